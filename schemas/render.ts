/** Fields that the requests and responses of videos and music share. */
import Type, { type TProperties } from 'typebox';
import { Count, CountOf, ignoredFields, Nullable, UnixSeconds } from './shapes.ts';

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
  Type.Object(
    {
      options: Type.Optional(
        Type.Object(
          {
            ...Type.Partial(Type.Object(settings)).properties,
            [providerSlug]: Type.Optional(
              Type.Object(
                {
                  ...Type.Partial(Type.Object(settings)).properties,
                  parameters: Type.Optional(
                    Type.Partial(Type.Object(settings), {
                      description: 'The same settings, one level deeper',
                    }),
                  ),
                },
                { description: 'The same settings, for clients that key options by provider' },
              ),
            ),
          },
          {
            description:
              'Settings of the model; a field beside `provider` wins, and an unknown name is a 400',
          },
        ),
      ),
    },
    { description: 'Routing preferences, which are ignored, and `options`' },
  );

const CallbackUrl = Type.String({
  maxLength: 8192,
  description: 'https URL on a public host, called when the job has ended and when its outputs have expired',
});

/** Settings may be sent beside them or under `provider.options`. */
export const RequestFields = <Settings extends TProperties>(settings: Settings) => ({
  model: Type.String({ description: 'Id of a model of this kind' }),
  ...Type.Partial(Type.Object(settings)).properties,
  callback_url: Type.Optional(CallbackUrl),
  provider: Type.Optional(Provider(settings)),
  ...ignoredFields,
});

const Time = (description: string) => Nullable(Count, description);

export const JobFields = {
  id: Type.String({ description: 'Id of the job' }),
  model: Type.String({ description: 'The model that renders it' }),
  status: Type.Enum(['pending', 'queued', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'], {
    description: 'The last four are final; clients of OpenAI get `queued` for `pending`',
  }),
  polling_url: Type.String({ description: 'Where to read the job again' }),
  progress: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: 'Percent, estimated from expected render times; 100 when completed',
  }),
  queue_position: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Jobs ahead for the same model, while pending' }),
  ),
  created_at: CountOf('Unix seconds'),
  started_at: Time('Unix seconds when rendering began'),
  completed_at: Time('Unix seconds when it completed'),
  expires_at: Time('Unix seconds when the outputs are deleted; null until completed'),
  prompt: Type.String({ description: 'As requested' }),
  seed: Type.Integer({ description: 'As requested, or the one that was drawn' }),
  unsigned_urls: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Addresses of the outputs, which need the key; present when completed',
    }),
  ),
  usage: Type.Optional(
    Type.Object(
      {
        billed_seconds: CountOf('Seconds that are billed'),
        cost: Type.Number({ description: 'US dollars' }),
        is_byok: Type.Literal(false),
      },
      { description: 'Present when completed; jobs that fail or are cancelled are not billed' },
    ),
  ),
  error_code: Type.Optional(
    Type.String({ description: 'Why it failed, such as `render_failed` or `timeout`' }),
  ),
};

export const ListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Jobs of a page; 20 by default' }),
  ),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By creation; desc by default' })),
  after: Type.Optional(Type.String({ description: 'Id of the last job of the page before' })),
  before: Type.Optional(Type.String({ description: 'Id of the first job of the page after' })),
});

export const ModelFields = {
  id: Type.String({ description: 'What requests name it by' }),
  canonical_slug: Type.String({ description: 'The same' }),
  name: Type.String({ description: 'Name for people' }),
  description: Type.String({ description: 'What it is good for' }),
  created: UnixSeconds(),
  seed: Type.Boolean({ description: 'Whether it takes a seed' }),
  pricing_skus: Type.Record(Type.String(), Type.String(), {
    description: 'US dollars, decimals as text, by what is billed',
  }),
  allowed_passthrough_parameters: Type.Array(Type.String(), {
    description: 'Names taken under `provider.options`',
  }),
};
