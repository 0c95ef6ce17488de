/** Simulates a large fleet in virtual time: where queues form, which shard is hot, what one failure costs. */
import { orEnd } from '../../test/command-line.ts';
import { Progress } from '../../test/progress.ts';
import { drawCharts, fleetCharts } from '../charts/draw.ts';
import { describeMachine } from '../measure.ts';
import { simulate } from './fleet.ts';
import { readOptions, usage } from './options.ts';
import { printFleet } from './report.ts';
import { type FleetResult, readFleet, resultOf, writeFleet } from './result-file.ts';

const options = orEnd('npm run bench:simulate', readOptions);
if (options.help) {
  console.log(usage);
  process.exit(0);
}
// Errors of refused requests are not shown to anybody.
Error.stackTraceLimit = 0;

const run = (): FleetResult => {
  const { plan, scale } = options;
  const started = new Date().toISOString();
  const machine = describeMachine();
  const began = performance.now();
  const progress = new Progress();
  progress.plan(plan.seconds);
  progress.begin('simulating');
  const outcomes = simulate(plan, {
    second: ({ second, streaming, queued, slotless }) => {
      const line = `second ${second}: ${streaming} streams, ${queued + slotless} waiting`;
      progress.begin(line);
      progress.finish(1, second % 10 === 0 ? line : undefined);
    },
  });
  progress.end();
  return resultOf(plan, outcomes, { started, machine, scale, took: (performance.now() - began) / 1000 });
};

const draw = async (result: FleetResult): Promise<void> => {
  for (const file of await drawCharts(fleetCharts, result)) console.error(`drawn: ${file}`);
};

if (options.files.length > 0) for (const file of options.files) await draw(readFleet(file));
else {
  const result = run();
  printFleet(result);
  if (options.json !== undefined) writeFleet(result, options.json);
  if (options.charts) await draw(result);
}
