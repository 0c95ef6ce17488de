/** Fields that the requests and responses of videos and music share. */
import Type, { type TProperties } from 'typebox';
import { Count, ignoredFields, Nullable } from './shapes.ts';

/** Fields are typed, not coerced, but for this: a whole number may come as text. */
export const WholeNumber = (options: { readonly description?: string } = {}) =>
  Type.Union(
    [
      Type.Integer({
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
        expected: 'an integer',
      }),
      Type.String({ pattern: '^-?(0|[1-9][0-9]{0,14})$', expected: 'an integer' }),
    ],
    options,
  );

/** Checked by its reader, with every digit. */
export const Seed = () =>
  Type.Unknown({ description: 'An integer of 64 bits, which may come as text; random by default' });

/** A fraction must come as a number; a whole number may come as text. */
export const PositiveNumber = (options: { readonly description?: string } = {}) =>
  Type.Union(
    [
      Type.Number({ minimum: 0, expected: 'a number of at least 0' }),
      Type.String({ pattern: '^(0|[1-9][0-9]{0,14})$', expected: 'a number of at least 0' }),
    ],
    options,
  );

/** Our own name among the providers that clients may address options to. */
export const providerSlug = 'sluice';

/** Routing preferences are ignored; `options` carries settings, flat or under our slug. */
const Provider = <Settings extends TProperties>(settings: Settings) =>
  Type.Object({
    options: Type.Optional(
      Type.Object({
        ...Type.Partial(Type.Object(settings)).properties,
        [providerSlug]: Type.Optional(
          Type.Object({
            ...Type.Partial(Type.Object(settings)).properties,
            parameters: Type.Optional(Type.Partial(Type.Object(settings))),
          }),
        ),
      }),
    ),
  });

const CallbackUrl = Type.String({
  maxLength: 8192,
  description: 'https URL on a public host, called when the job has ended and when its outputs have expired',
});

/** Settings may be sent beside them or under `provider.options`. */
export const RequestFields = <Settings extends TProperties>(settings: Settings) => ({
  model: Type.String(),
  ...Type.Partial(Type.Object(settings)).properties,
  callback_url: Type.Optional(CallbackUrl),
  provider: Type.Optional(Provider(settings)),
  ...ignoredFields,
});

const Time = Nullable(Count);

export const JobFields = {
  id: Type.String(),
  model: Type.String(),
  status: Type.Enum(['pending', 'queued', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'], {
    description: 'queued is what OpenAI clients get for pending',
  }),
  polling_url: Type.String(),
  progress: Type.Integer({ minimum: 0, maximum: 100 }),
  queue_position: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Jobs ahead for the same model, while pending' }),
  ),
  created_at: Count,
  started_at: Time,
  completed_at: Time,
  expires_at: Type.Union([Count, Type.Null()], { description: 'When the outputs are deleted' }),
  prompt: Type.String(),
  seed: Type.Integer(),
  unsigned_urls: Type.Optional(
    Type.Array(Type.String(), { description: 'Content addresses; they need the key' }),
  ),
  usage: Type.Optional(
    Type.Object({ billed_seconds: Count, cost: Type.Number(), is_byok: Type.Literal(false) }),
  ),
  error_code: Type.Optional(Type.String()),
};

export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: '20 by default' })),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By creation; desc by default' })),
  after: Type.Optional(Type.String({ description: 'Id of the last job of the page before' })),
  before: Type.Optional(Type.String({ description: 'Id of the first job of the page after' })),
});

export const ModelFields = {
  id: Type.String(),
  canonical_slug: Type.String(),
  name: Type.String(),
  description: Type.String(),
  created: Type.Integer(),
  seed: Type.Boolean(),
  pricing_skus: Type.Record(Type.String(), Type.String()),
  allowed_passthrough_parameters: Type.Array(Type.String()),
};
