/** Colours and type of the charts, for light and for dark pages. */
import type { Config } from 'vega-lite';

export interface Theme {
  readonly name: 'light' | 'dark';
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  /** Sluice. */
  readonly accent: string;
  /** Gateways. */
  readonly plain: string;
  /** Proxies without features, shown as a reference. */
  readonly faint: string;
  /** Lines that must be distinguishable, by subject. */
  readonly lines: Readonly<Record<string, string>>;
}

export const themes: readonly Theme[] = [
  {
    name: 'light',
    background: '#ffffff',
    text: '#1f2328',
    muted: '#59636e',
    grid: '#e6e9ed',
    accent: '#0969da',
    plain: '#9aa4af',
    faint: '#d3d9df',
    lines: { floor: '#7d8791', nginx: '#b0b8c0', 'vllm-router': '#c4571a' },
  },
  {
    name: 'dark',
    background: '#0d1117',
    text: '#f0f6fc',
    muted: '#9198a1',
    grid: '#262c36',
    accent: '#4493f8',
    plain: '#6b7580',
    faint: '#3d444d',
    lines: { floor: '#9198a1', nginx: '#636c76', 'vllm-router': '#f0883e' },
  },
];

/** Named only, never fetched: a reader sees the page's own typeface. */
const font = 'system-ui, sans-serif';

export const configOf = ({ background, text, muted, grid }: Theme): Config => ({
  background,
  font,
  padding: 16,
  title: {
    anchor: 'start',
    color: text,
    subtitleColor: muted,
    fontSize: 17,
    fontWeight: 600,
    subtitleFontSize: 12,
    subtitlePadding: 6,
    offset: 14,
  },
  axis: {
    labelColor: muted,
    titleColor: muted,
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: 'normal',
    gridColor: grid,
    domain: false,
    ticks: false,
  },
  view: { stroke: null },
  text: { color: text, fontSize: 12 },
  concat: { spacing: 28 },
});
