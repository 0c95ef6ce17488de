/** Draws the charts of a result as SVG files, light and dark. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Error as errorLevel, parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { ResultFile } from '../result-file.ts';
import type { RoutingResult } from '../routing/result-file.ts';
import type { FleetResult } from '../simulate/result-file.ts';
import { cpuChart, memoryChart } from './bars.ts';
import { fleetChart } from './fleet.ts';
import { latencyChart } from './latency.ts';
import { routingChart } from './routing.ts';
import { processesChart, scaleChart } from './scale.ts';
import { type Theme, themes } from './theme.ts';

type Chart<Result> = (result: Result, theme: Theme) => TopLevelSpec | undefined;
/** By file name; one that the result has no values for is left as it is. */
type Charts<Result> = Readonly<Record<string, Chart<Result>>>;

export const charts: Charts<ResultFile> = {
  cpu: cpuChart,
  memory: memoryChart,
  latency: latencyChart,
  scale: scaleChart,
  processes: processesChart,
};

export const routingCharts: Charts<RoutingResult> = { routing: routingChart };

export const fleetCharts: Charts<FleetResult> = { fleet: fleetChart };

const folder = path.join(import.meta.dirname, '..', '..', 'docs', 'charts');

/** The chart as SVG with text as text; undefined when the result has no values for it. */
export const renderChart = async <Result>(
  chart: Chart<Result>,
  result: Result,
  theme: Theme,
): Promise<string | undefined> => {
  const spec = chart(result, theme);
  if (spec === undefined) return undefined;
  const view = new View(parse(compile(spec).spec), { renderer: 'none', logLevel: errorLevel });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
};

/** Returns the files it wrote. */
export const drawCharts = async <Result>(
  charts: Charts<Result>,
  result: Result,
  target = folder,
): Promise<string[]> => {
  mkdirSync(target, { recursive: true });
  const files: string[] = [];
  for (const [name, chart] of Object.entries(charts)) {
    for (const theme of themes) {
      const svg = await renderChart(chart, result, theme);
      if (svg === undefined) continue;
      const file = path.join(target, `${name}-${theme.name}.svg`);
      writeFileSync(file, `${svg}\n`);
      files.push(path.relative(process.cwd(), file));
    }
  }
  return files;
};
