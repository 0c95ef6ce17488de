/** Resolves quality and steps of a video request, and their price factor; 400 where they contradict. */
import { fail } from '../errors.ts';
import type { Picture } from './picture.ts';
import type { VideoSpec } from './spec.ts';

type Tier = 'turbo' | 'standard' | 'max';

export interface ScheduleWish {
  readonly quality?: string | undefined;
  readonly steps?: number | undefined;
  /** Whether reference media guide the picture. */
  readonly references: boolean;
}

/** Where each stood in the request, for errors. */
interface ScheduleFields {
  readonly quality: string;
  readonly steps: string;
}

export interface Schedule {
  readonly steps: number;
  /** Undefined where steps of the base model were asked for by number. */
  readonly tier: Tier | undefined;
}

/** Words of other services beside our own. */
export const qualities: Readonly<Record<string, Tier>> = {
  turbo: 'turbo',
  standard: 'standard',
  max: 'max',
  auto: 'turbo',
  low: 'turbo',
  medium: 'standard',
  high: 'max',
};

export const readSchedule = (
  spec: VideoSpec,
  picture: Picture,
  wish: ScheduleWish,
  fields: ScheduleFields,
): Schedule => {
  checkSteps(spec, wish.steps, fields.steps);
  const schedule = chosen(spec, wish, fields);
  if (picture.enlarged && isBase(spec, schedule))
    throw fail(
      'invalid_request',
      wish.quality === undefined
        ? `${fields.steps} must be below ${spec.steps.base} at resolution ${picture.resolution}: it renders on the turbo schedule only`
        : `${fields.quality} must be turbo at resolution ${picture.resolution}: it renders on the turbo schedule only`,
    );
  return schedule;
};

/** Whether the base model renders it. */
const isBase = (spec: VideoSpec, { steps, tier }: Schedule): boolean =>
  tier === undefined ? steps >= spec.steps.base : tier !== 'turbo';

const chosen = (spec: VideoSpec, wish: ScheduleWish, fields: ScheduleFields): Schedule => {
  if (wish.quality === undefined && wish.steps !== undefined)
    return wish.steps < spec.steps.base
      ? { steps: wish.steps, tier: 'turbo' }
      : { steps: wish.steps, tier: undefined };
  const tier = readTier(spec, wish.quality ?? 'turbo', fields.quality);
  const steps = stepsOf(spec, tier, wish.references);
  if (wish.steps !== undefined && wish.steps !== steps)
    throw fail(
      'invalid_request',
      `${fields.steps} must be ${steps} with ${fields.quality} ${wish.quality}, or be left out`,
    );
  return { steps, tier };
};

const checkSteps = ({ steps }: VideoSpec, asked: number | undefined, field: string): void => {
  if (asked !== undefined && (asked < steps.min || asked > steps.max))
    throw fail('invalid_request', `${field} must be between ${steps.min} and ${steps.max}`);
};

const readTier = (spec: VideoSpec, quality: string, field: string): Tier => {
  const tier = Object.hasOwn(qualities, quality) ? qualities[quality] : undefined;
  if (tier !== undefined && spec.tiers[tier] !== undefined) return tier;
  const offered = Object.entries(qualities).filter(([, itsTier]) => spec.tiers[itsTier] !== undefined);
  throw fail(
    'invalid_request',
    `${field} must be one of ${offered.map(([word]) => JSON.stringify(word)).join(', ')}`,
  );
};

const stepsOf = ({ tiers }: VideoSpec, tier: Tier, references: boolean): number => {
  const { steps, reference_steps = steps } = tiers[tier] ?? tiers.turbo;
  return references ? reference_steps : steps;
};
