/** Computes the billed seconds of a video. */
import type { Picture } from './picture.ts';
import type { Schedule } from './schedule.ts';
import type { VideoSpec } from './spec.ts';

interface BilledRender {
  /** Seconds asked for. */
  readonly seconds: number;
  readonly picture: Pick<Picture, 'resolution'>;
  readonly schedule: Schedule;
}

/** Whole seconds, rounded up over the whole request. */
export const billedSeconds = (spec: VideoSpec, { seconds, picture, schedule }: BilledRender): number => {
  const enlargement = spec.resolutions[picture.resolution]?.price ?? 1;
  // A division of whole numbers may come out a hair above one.
  return Math.ceil(seconds * enlargement * price(spec, schedule) - 1e-9);
};

/** By steps, but never more than the next tier up, which has at least as many. */
const price = ({ tiers, steps: { per_price } }: VideoSpec, { steps, tier }: Schedule): number => {
  if (tier !== undefined) return tiers[tier]?.price ?? 1;
  const above = Object.values(tiers).filter((one) => one.steps >= steps);
  return Math.min(steps / per_price, ...above.map((one) => one.price));
};
