/** The kinds of limits that hold for a subscription and a model, or for a key. */
import Type, { type Static } from 'typebox';
import { Closed, Nullable } from './shapes.ts';

/** Of a model in the catalog. */
export const RateLimits = Closed({
  concurrency: Type.Integer({ minimum: 1, description: 'Requests at once' }),
  requests_per_minute: Type.Integer({ minimum: 1, description: 'Requests in any minute' }),
  tokens_per_minute: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Tokens of prompts and completions; absent: no limit' }),
  ),
  prompt_tokens_per_minute: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Tokens of prompts; absent: no limit' }),
  ),
  completion_tokens_per_minute: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Tokens of completions; absent: no limit' }),
  ),
});
export type RateLimits = Static<typeof RateLimits>;
export type LimitKind = keyof RateLimits;

interface KindDetails {
  /** What errors call it. */
  readonly unit: string;
  /** Of `sluice limits set` and `sluice keys create`. */
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
  tokens_per_minute: {
    unit: 'tokens per minute',
    option: 'tpm',
    help: 'tokens in any 60 seconds, of prompts and completions',
    most: 1_000_000_000,
  },
  prompt_tokens_per_minute: {
    unit: 'prompt tokens per minute',
    option: 'prompt-tpm',
    help: 'tokens of prompts in any 60 seconds',
    most: 1_000_000_000,
  },
  completion_tokens_per_minute: {
    unit: 'completion tokens per minute',
    option: 'completion-tpm',
    help: 'tokens of completions in any 60 seconds',
    most: 1_000_000_000,
  },
};

/** Kinds that count tokens. */
export const tokenKinds = [
  'tokens_per_minute',
  'prompt_tokens_per_minute',
  'completion_tokens_per_minute',
] as const;

const ownLimit = (kind: LimitKind) => {
  const { most, help } = limitKinds[kind];
  return Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: `At most: ${help}` }));
};

/** Of a subscription: they replace the catalog's, and one that is absent leaves the catalog's. Of a key: beside those. */
export const LimitNumbers = Type.Object(
  {
    concurrency: ownLimit('concurrency'),
    requests_per_minute: ownLimit('requests_per_minute'),
    tokens_per_minute: ownLimit('tokens_per_minute'),
    prompt_tokens_per_minute: ownLimit('prompt_tokens_per_minute'),
    completion_tokens_per_minute: ownLimit('completion_tokens_per_minute'),
  },
  {
    additionalProperties: false,
    description: 'Limits; of a subscription instead of those of the catalog, of a key beside them',
  },
);
export type LimitNumbers = Static<typeof LimitNumbers>;

const changedLimit = (kind: LimitKind) => Type.Optional(Nullable(LimitNumbers.properties[kind]));

/** Null removes a number, and one that is absent stays. */
export const LimitChanges = Type.Object(
  Object.fromEntries(
    (Object.keys(limitKinds) as LimitKind[]).map((kind) => [kind, changedLimit(kind)]),
  ) as Record<LimitKind, ReturnType<typeof changedLimit>>,
  {
    additionalProperties: false,
    description: 'Numbers that are given replace the former ones; null removes one',
  },
);
export type LimitChanges = Static<typeof LimitChanges>;
