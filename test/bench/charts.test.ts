/** Tests the charts of a result: well-formed SVG with every subject, in both themes, and no text as outlines. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { titleOf } from '../../bench/charts/data.ts';
import { charts, drawCharts, fleetCharts, renderChart, routingCharts } from '../../bench/charts/draw.ts';
import { type Theme, themes } from '../../bench/charts/theme.ts';
import type { ResultFile } from '../../bench/result-file.ts';
import { sampleFleet, sampleResult, sampleRouting } from './sample-result.ts';

interface Content {
  readonly texts: string[];
  readonly elements: Set<string>;
}

const attributes = String.raw`(?:\s+[\w:-]+="[^"<&]*(?:&(?:amp|lt|gt|quot|apos|#\d+);[^"<&]*)*")*`;
const token = new RegExp(
  String.raw`<([a-zA-Z]+)${attributes}\s*(/?)>|</([a-zA-Z]+)>|([^<&]|&(?:amp|lt|gt|quot|#\d+);)+`,
  'y',
);

/** Reads SVG as strictly as XML: throws at the first character that is not well-formed. */
const read = (svg: string): Content => {
  const open: string[] = [];
  const texts: string[] = [];
  const elements = new Set<string>();
  for (token.lastIndex = 0; token.lastIndex < svg.length; ) {
    const at = token.lastIndex;
    const found = token.exec(svg);
    if (found === null) throw new Error(`not well-formed: ${svg.slice(at, at + 80)}`);
    const [whole, opened, empty, closed] = found;
    if (opened !== undefined) elements.add(opened);
    if (opened !== undefined && empty === '') open.push(opened);
    if (closed !== undefined && open.pop() !== closed) throw new Error(`${closed} is closed out of order`);
    if (opened === undefined && closed === undefined && /^t(ext|span)$/.test(open.at(-1) ?? ''))
      texts.push(whole);
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(', ')}`);
  return { texts, elements };
};

const gateways = sampleResult.subjects.map(({ name }) => name).filter((name) => name !== 'direct');
const shown: Readonly<Record<string, readonly string[]>> = {
  cpu: gateways.map(titleOf),
  memory: gateways.map(titleOf),
  latency: gateways.map(titleOf),
  scale: ['floor', 'sluice', 'nginx', 'vllm-router'].map(titleOf),
  processes: ['1 process', '2 processes'],
  fleet: [
    'A simulated fleet: 400 requests/s',
    'Streams',
    'Waiting',
    'gateway dies',
    'Redis fails over',
    'hottest',
  ],
  routing: ['Sluice, prefix', 'Sluice, least-busy', 'smg, cache_aware', 'oracle', 'smg 1.13.0'],
};

const checked = <Result>(
  name: string,
  chart: (result: Result, theme: Theme) => ReturnType<(typeof charts)[string]>,
  result: Result,
): void => {
  for (const theme of themes) {
    t.test(`${name}, ${theme.name}`, async (t) => {
      const svg = (await renderChart(chart, result, theme)) ?? '';
      const { texts, elements } = read(svg);
      t.match(svg, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      t.notOk(svg.includes('NaN'), 'every position is a number');
      t.notOk(elements.has('image') || elements.has('style') || elements.has('script'));
      t.notOk(/(href|url\()/.test(svg.replaceAll(/url\(#/g, '')), 'nothing is loaded from elsewhere');
      t.match(texts.join('\n'), /Sample, 2 cores, Node 20\.20\.2 · 2026-01-02/, 'names machine and date');
      for (const title of shown[name] ?? [])
        t.ok(
          texts.some((text) => text.startsWith(title)),
          `${title} is in it`,
        );
      t.ok(svg.includes(theme.accent), 'Sluice is highlighted');
    });
  }
};

for (const [name, chart] of Object.entries(charts)) checked(name, chart, sampleResult);
for (const [name, chart] of Object.entries(routingCharts)) checked(name, chart, sampleRouting);
for (const [name, chart] of Object.entries(fleetCharts)) checked(name, chart, sampleFleet);

t.test('routing: every workload has its values, and the subtitle says how they were measured', async (t) => {
  const [theme] = themes;
  const { routing } = routingCharts;
  if (theme === undefined || routing === undefined) throw new Error('no chart');
  const { texts } = read((await renderChart(routing, sampleRouting, theme)) ?? '');
  for (const text of [
    'multi-turn · cached',
    'hot prefix · cached',
    '87.7 %',
    '56.9 %',
    '28',
    '79 ms',
    '700 ms',
  ])
    t.ok(texts.includes(text), text);
  t.notOk(texts.includes('prefix, 3 gateways'), 'variants are left out');
  t.match(texts.join('\n'), /4 engine doubles .* 40 s for each workload\.\nThrough HTTP\./);
  const simulated = await renderChart(routing, { ...sampleRouting, simulated: true, subjects: [] }, theme);
  t.match(simulated, /Simulated in virtual time/);
  t.equal(await renderChart(routing, { ...sampleRouting, rows: [] }, theme), undefined);
});

t.test('the values are written beside the bars', async (t) => {
  const [theme] = themes;
  const { cpu, memory } = charts;
  if (theme === undefined || cpu === undefined || memory === undefined) throw new Error('no chart');
  const { texts } = read((await renderChart(cpu, sampleResult, theme)) ?? '');
  for (const value of ['58', '278', '34', '3.4', '1,575', '12,300']) t.ok(texts.includes(value), value);
  const slow = read((await renderChart(memory, sampleResult, theme)) ?? '').texts;
  for (const value of ['47 MB', '53 MB', 'more than 2,030 MB']) t.ok(slow.includes(value), value);
});

t.test('charts without values are not drawn', async (t) => {
  const whole = sampleResult.measurements.filter(({ scenario }) => scenario === 'whole');
  const result: ResultFile = {
    ...sampleResult,
    measurements: whole,
    scale: { points: [], bends: [], throughput: [] },
  };
  const folder = t.testdir();
  const files = (await drawCharts(charts, result, folder)).map((file) => path.basename(file));
  t.same(files, ['cpu-light.svg', 'cpu-dark.svg']);
  t.ok(read(readFileSync(path.join(folder, 'cpu-dark.svg'), 'utf8')).elements.has('svg'));
  t.throws(() => read('<svg><text>a & b</text></svg>'), /not well-formed: & b/);
  t.throws(() => read('<svg><text></svg></text>'), /out of order/);
});
