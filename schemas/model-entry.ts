/** Models as clients see them, in the plain and in the messages format. */
import Type, { type Static } from 'typebox';
import { DefaultParameters, Pricing, Reasoning } from './catalog.ts';
import { CountOf, Described, Nullable, Titled, UnixSeconds } from './shapes.ts';

const Strings = Type.Array(Type.String());

export const ModelEntry = Titled('ModelEntry', {
  id: Type.String({ description: 'What requests name it by' }),
  object: Type.Literal('model'),
  owned_by: Type.String({ description: 'The part of the id before the slash' }),
  canonical_slug: Type.String({ description: 'The same as `id`' }),
  hugging_face_id: Nullable(Type.String(), 'Where its weights are published'),
  name: Type.String({ description: 'Name for people' }),
  created: UnixSeconds(),
  description: Type.String({ description: 'What it is good for' }),
  context_length: Nullable(Type.Integer(), 'Tokens it reads; null for models without a token context'),
  architecture: Type.Object({
    modality: Type.String({ description: 'Such as `text+image->text`' }),
    input_modalities: Described(Strings, 'What it reads'),
    output_modalities: Described(Strings, 'What it makes'),
    tokenizer: Type.String({ description: 'Name of its vocabulary' }),
    instruct_type: Nullable(Type.String(), 'Name of its chat template, if it is known by one'),
  }),
  pricing: Described(
    Pricing,
    'US dollars as decimals: per token; per megapixel or per second of video, music and speech in `completion`; per second of audio read in `prompt`',
  ),
  top_provider: Type.Object({
    context_length: Nullable(Type.Integer(), 'The same as above'),
    max_completion_tokens: Nullable(Type.Integer(), 'Tokens that one response may have'),
    is_moderated: Type.Boolean({ description: 'Whether a filter looks at its responses' }),
  }),
  per_request_limits: Nullable(
    Type.Record(Type.String(), Type.Number()),
    'Maxima of one request by name, such as `max_prompt_length` in characters',
  ),
  supported_parameters: Described(Strings, 'Request fields that have an effect on it'),
  default_parameters: Nullable(DefaultParameters, 'Sampling where a request has none'),
  supported_voices: Nullable(Strings, 'Voices of a speech model; null for every other model'),
  links: Type.Object({ details: Type.String({ description: 'Path of this entry' }) }),
  reasoning: Type.Optional(
    Type.Object(Type.Omit(Reasoning, ['wire']).properties, { description: 'Only on models that think' }),
  ),
});
export type ModelEntry = Static<typeof ModelEntry>;

export const ModelList = Titled('ModelList', {
  object: Type.Literal('list'),
  data: Type.Array(ModelEntry, { description: 'The models of this page, in the order of the catalog' }),
  total_count: Type.Integer({ description: 'Models of all pages' }),
  links: Type.Object({ next: Nullable(Type.String(), 'Path of the next page; null after the last') }),
});

export const ModelCount = Type.Object({
  data: Type.Object({ count: CountOf('Models that the list would have') }),
});
export const ModelResponse = Type.Object({ data: ModelEntry });

/** The messages format's model object, sent where its version header is. */
export const MessagesModel = Titled('MessagesModel', {
  type: Type.Literal('model'),
  id: Type.String({ description: 'What requests name it by' }),
  display_name: Type.String({ description: 'Name for people' }),
  created_at: Type.String({ description: 'A time as of RFC 3339' }),
  max_input_tokens: Nullable(Type.Integer(), 'Tokens it reads'),
  max_tokens: Nullable(Type.Integer(), 'Tokens that one response may have'),
  capabilities: Type.Null(),
  lifecycle: Type.Literal('active'),
  line: Type.Null(),
  deprecated_at: Type.Null(),
  retires_at: Type.Null(),
});
export type MessagesModel = Static<typeof MessagesModel>;

export const MessagesModelList = Titled('MessagesModelList', {
  data: Type.Array(MessagesModel, {
    description: 'Each chat model twice: with `anthropic/` before its id too',
  }),
  has_more: Type.Boolean({ description: 'Whether models follow this page' }),
  first_id: Nullable(Type.String(), 'For `before_id`; null when the page is empty'),
  last_id: Nullable(Type.String(), 'For `after_id`; null when the page is empty'),
});

// ── query parameters ─────────────────────────────────────────────────────────────────

const filters = {
  output_modalities: Type.Optional(
    Type.String({ description: 'Comma-separated; models with any of them. `all` for every model' }),
  ),
  input_modalities: Type.Optional(
    Type.String({ description: 'Comma-separated; models that take all of them' }),
  ),
  supported_parameters: Type.Optional(
    Type.String({ description: 'Comma-separated; models that take all of them' }),
  ),
  format: Type.Optional(
    Type.String({ description: '`openrouter`: text models unless output_modalities says otherwise' }),
  ),
};

export const PageQuery = Type.Object({
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Models before the page' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 500,
      description: 'Models of a page; without offset and limit the whole list',
    }),
  ),
});
export const ModelCountQuery = Type.Object(filters);
export const ModelListQuery = Type.Object({
  ...filters,
  ...PageQuery.properties,
  after_id: Type.Optional(Type.String({ description: 'Messages format: the page after this model' })),
  before_id: Type.Optional(Type.String({ description: 'Messages format: the page before this model' })),
});
