/** The kinds of limits that hold for a subscription and a model. */
import Type, { type Static } from 'typebox';
import { Closed } from './shapes.ts';

/** Of a model in the catalog. */
export const RateLimits = Closed({
  concurrency: Type.Integer({ minimum: 1 }),
  requests_per_minute: Type.Integer({ minimum: 1 }),
});
export type RateLimits = Static<typeof RateLimits>;
export type LimitKind = keyof RateLimits;

interface KindDetails {
  /** What errors call it. */
  readonly unit: string;
  /** Of `sluice limits set`. */
  readonly option: string;
  readonly help: string;
  readonly most: number;
}

export const limitKinds: Readonly<Record<LimitKind, KindDetails>> = {
  concurrency: {
    unit: 'requests at once',
    option: 'concurrency',
    help: 'requests running at once',
    most: 100_000,
  },
  requests_per_minute: {
    unit: 'requests per minute',
    option: 'rpm',
    help: 'requests started in any 60 seconds',
    most: 1_000_000,
  },
};

const ownLimit = (kind: LimitKind) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: limitKinds[kind].most }));

/** Of a subscription: they replace the catalog's, and one that is absent leaves the catalog's. */
export const LimitNumbers = Closed({
  concurrency: ownLimit('concurrency'),
  requests_per_minute: ownLimit('requests_per_minute'),
});
export type LimitNumbers = Static<typeof LimitNumbers>;
