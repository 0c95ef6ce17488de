/** Draws p50 and p99 of several subjects as spans, one below the other, with the values at their ends. */
import type { Field, PositionDef } from 'vega-lite/types_unstable/channeldef.js';
import type { LayerSpec } from 'vega-lite/types_unstable/spec/layer.js';
import type { UnitSpec } from 'vega-lite/types_unstable/spec/unit.js';
import type { Theme } from './theme.ts';

/** Of data with `p50`, `p99`, `label50`, `label99` and `role`. */
export const spanLayers = (
  y: PositionDef<Field>,
  x: PositionDef<Field>,
  theme: Theme,
): (LayerSpec<Field> | UnitSpec<Field>)[] => {
  const ours = "datum.role === 'ours'";
  const color = {
    value: theme.plain,
    condition: [
      { test: ours, value: theme.accent },
      { test: "datum.role === 'proxy'", value: theme.faint },
    ],
  };
  const label = { value: theme.text, condition: [{ test: ours, value: theme.accent }] };
  const point = { type: 'point', filled: true, size: 90, opacity: 1 } as const;
  const at50 = { ...x, field: 'p50' };
  const at99 = { ...x, field: 'p99' };
  return [
    {
      mark: { type: 'rule', strokeWidth: 6, strokeCap: 'round', opacity: 0.45 },
      encoding: { y, x: at50, x2: { field: 'p99' }, color },
    },
    { mark: point, encoding: { y, x: at50, color } },
    { mark: point, encoding: { y, x: at99, color } },
    {
      mark: { type: 'text', align: 'right', dx: -9 },
      encoding: { y, x: at50, text: { field: 'label50' }, color: label },
    },
    {
      mark: { type: 'text', align: 'left', dx: 9 },
      encoding: { y, x: at99, text: { field: 'label99' }, color: label },
    },
  ];
};
