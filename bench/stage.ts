/** The engine and the load generator of a run, each in its own process, and one order to them. */
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { buildParts } from './build.ts';
import type { Load, Order, Outcome } from './load.ts';
import { nextMessage, start, stop } from './processes.ts';
import type { Subject } from './subjects.ts';

export interface Stage {
  readonly engine: ChildProcess;
  readonly enginePort: number;
  readonly generator: ChildProcess;
}

const longestRun = 120;

/** They serve one run. */
export const openStage = async (): Promise<Stage> => {
  const part = (file: string): ChildProcess =>
    start({
      command: ['node', path.join(buildParts(), file)],
      folder: path.dirname(import.meta.dirname),
      environment: {},
    });
  const engine = part('engine.js');
  const { port } = await nextMessage<{ port: number }>(engine, 20);
  const generator = part('load.js');
  await nextMessage(generator, 20);
  return { engine, enginePort: port, generator };
};

export const closeStage = async (stage: Stage): Promise<void> => {
  await Promise.all([stop(stage.engine), stop(stage.generator)]);
};

/** One load against one subject. */
export const measureOnce = async (stage: Stage, subject: Subject, load: Load): Promise<Outcome> => {
  const order: Order = {
    load,
    target: subject.target,
    pids: subject.pids,
    enginePort: stage.enginePort,
    enginePid: stage.engine.pid ?? 0,
  };
  const outcome = nextMessage<Outcome>(stage.generator, longestRun);
  stage.generator.send(order);
  return outcome;
};

/** Seconds that an order takes, for the plan. */
export const secondsOf = (load: Load): number => {
  const around = 0.4;
  switch (load.kind) {
    case 'closed':
      return around + load.warmSeconds + Math.max(load.windowSeconds, 1);
    case 'open':
    case 'route':
      return around + load.warmSeconds + load.windowSeconds;
    case 'paced':
      return around + load.rampSeconds + load.settleSeconds + load.windowSeconds;
    case 'slow':
      return around + load.windowSeconds + 1;
    case 'disconnect':
      return around + load.clients * 0.015 + 1;
    case 'upload':
      return around + 1 + load.idleSeconds + load.uploads * 0.7;
  }
};
