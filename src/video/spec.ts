/** The capability spec of a video model; 503 where it has no valid one. */
import type { Model } from '../../schemas/catalog.ts';
import type { VideoCapabilities } from '../../schemas/render-capabilities.ts';
import { fail } from '../errors.ts';

export type VideoSpec = VideoCapabilities;

export const videoSpec = (model: Model): VideoSpec => {
  const spec = validVideoSpec(model);
  if (spec === undefined)
    throw fail('unavailable', `The model ${model.id} is not served: it has no valid capability spec`);
  return spec;
};

/** Undefined where it is missing or contradicts itself. */
export const validVideoSpec = ({ capabilities }: Model): VideoSpec | undefined => {
  const spec = capabilities?.video;
  return spec !== undefined && holds(spec) ? spec : undefined;
};

const holds = ({ duration, resolutions, steps, tiers }: VideoSpec): boolean => {
  const tables = Object.values(resolutions).map(({ sizes }) => sizes);
  const ratios = Object.keys(tables[0] ?? {});
  const sizes = tables.flatMap((table) => Object.values(table));
  return (
    inOrder(duration.min, duration.default, duration.max) &&
    inOrder(steps.min, tiers.turbo.steps, steps.max) &&
    inOrder(steps.min, steps.base, steps.max) &&
    ratios.length > 0 &&
    tables.every((table) => sameNames(Object.keys(table), ratios)) &&
    // A size tells its resolution and ratio; encoders need even sides.
    new Set(sizes).size === sizes.length &&
    sizes.every((size) => size.split('x').every((side) => Number(side) % 2 === 0))
  );
};

const inOrder = (low: number, middle: number, high: number): boolean => low <= middle && middle <= high;

const sameNames = (names: readonly string[], others: readonly string[]): boolean =>
  names.length === others.length && names.every((name) => others.includes(name));
