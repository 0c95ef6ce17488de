/** A time series chart (uPlot), redrawn when its data, its width or the colours change. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../theme.ts';
import { seriesColours } from './series-colours.ts';

export interface Series {
  readonly name: string;
  /** One for each time; null: unknown. */
  readonly values: readonly (number | null)[];
  readonly format?: (value: number) => string;
  /** What the legend says instead, where the drawn ones are sums. */
  readonly shown?: readonly (number | null)[];
  /** Which of the colours, from 0; by its place unless named. */
  readonly colour?: number;
}

export interface ChartProps {
  /** For screen readers: what it shows. */
  readonly label: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly height?: number;
  readonly kind?: 'line' | 'bars';
  /** Of the numbers beside the chart. */
  readonly axis?: (value: number) => string;
  /** Times are shown in universal time, not in that of the visitor. */
  readonly utc?: boolean;
  /** Seconds that are shown up to the last time; all of them unless named. */
  readonly span?: number;
  /** Names and values under the pointer below the chart. */
  readonly legend?: boolean;
}

export const Chart = (props: ChartProps) => {
  const { label, times, series, height = 200, kind = 'line' } = props;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data: uPlot.AlignedData = [[...times], ...series.map(({ values }) => [...values])];
  const latest = useRef({ data, props });
  latest.current = { data, props };
  const shape = `${theme.value} ${kind} ${height} ${series.map(({ name }) => name).join('\n')}`;
  // `shape` stands for everything that needs a new plot.
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const made = new uPlot(
      optionsOf(element.clientWidth, props, () => latest.current.props),
      latest.current.data,
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => {
    plot.current?.setData(data);
  });
  return <div class="chart" ref={frame} role="img" aria-label={label} />;
};

/** From 0, with a little room above. */
const fromZero = (_: uPlot, __: number | null, most: number | null): [number, number] => [
  0,
  most === null || most <= 0 ? 1 : most * 1.05,
];

const day = 86_400;

/** As precise as the distance of two marks needs. */
const timeText = (seconds: number, step: number, utc: boolean): string => {
  const date = new Date(seconds * 1000);
  const zone = utc ? { timeZone: 'UTC' } : {};
  if (step >= 28 * day) return date.toLocaleDateString('en-GB', { month: 'short', year: 'numeric', ...zone });
  if (step >= day) return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...zone });
  const second = step < 60 ? ({ second: '2-digit' } as const) : {};
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', ...second, ...zone });
};

/** With its day, where hours are of several. */
const fullText = (seconds: number, step: number, utc: boolean): string =>
  step >= 3_600 && step < day
    ? `${timeText(seconds, day, utc)}, ${timeText(seconds, step, utc)}`
    : timeText(seconds, step, utc);

/** The distance of two neighbours in seconds; a day where there is only one. */
const stepOf = (plot: uPlot): number => {
  const [first = 0, second = first + day] = plot.data[0];
  return second - first;
};

const optionsOf = (
  width: number,
  { height = 200, series, kind, utc = false, span, legend = true }: ChartProps,
  /** Formats and values may change under the same plot. */
  current: () => ChartProps,
): uPlot.Options => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--border'), width: 1 } };
  const bars = kind === 'bars' ? uPlot.paths.bars?.({ size: [0.8, 60] }) : undefined;
  return {
    width,
    height,
    scales: {
      y: { range: fromZero },
      x: {
        range: (plot: uPlot, first: number | null, last: number | null): [number, number] => {
          // Without data there is nothing to draw.
          if (first === null || last === null) return [0, 1];
          const beside = bars ? stepOf(plot) * 0.6 : 0;
          return [span === undefined ? first - beside : last - span, last + beside];
        },
      },
    },
    legend: { show: legend },
    ...(utc && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
    axes: [
      {
        ...axis,
        size: 32,
        values: (_: uPlot, marks: number[], __: number, ___: number, step: number) =>
          marks.map((mark) => timeText(mark, step, utc)),
      },
      {
        ...axis,
        size: 60,
        values: (_: uPlot, marks: number[]) => marks.map((mark) => (current().axis ?? String)(mark)),
      },
    ],
    series: [
      {
        label: utc ? 'Time (UTC)' : 'Time',
        value: (plot: uPlot, at: number | null) => (at === null ? '–' : fullText(at, stepOf(plot), utc)),
      },
      ...series.map(({ name, colour: own }, index) => {
        const stroke = colour(`--series-${((own ?? index) % seriesColours) + 1}`);
        const text = (drawn: number | null, at: number | null): string => {
          const { shown, format = String } = current().series[index] ?? {};
          const value = shown === undefined || at === null ? drawn : (shown[at] ?? null);
          return value === null || value === undefined ? '–' : format(value);
        };
        return {
          ...{ label: name, stroke, width: bars ? 0 : 1.5, points: { show: false } },
          value: (_: uPlot, drawn: number | null, __: number, at: number | null) => text(drawn, at),
          ...(bars && { paths: bars, fill: stroke }),
        };
      }),
    ],
  };
};
