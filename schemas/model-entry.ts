/** Models as clients see them, in the plain and in the messages format. */
import Type, { type Static } from 'typebox';
import { DefaultParameters, Pricing, Reasoning } from './catalog.ts';
import { Nullable, Titled } from './shapes.ts';

const Strings = Type.Array(Type.String());

export const ModelEntry = Titled('ModelEntry', {
  id: Type.String(),
  object: Type.Literal('model'),
  owned_by: Type.String(),
  canonical_slug: Type.String(),
  hugging_face_id: Nullable(Type.String()),
  name: Type.String(),
  created: Type.Integer({ description: 'Unix seconds' }),
  description: Type.String(),
  context_length: Nullable(Type.Integer()),
  architecture: Type.Object({
    modality: Type.String(),
    input_modalities: Strings,
    output_modalities: Strings,
    tokenizer: Type.String(),
    instruct_type: Nullable(Type.String()),
  }),
  pricing: Pricing,
  top_provider: Type.Object({
    context_length: Nullable(Type.Integer()),
    max_completion_tokens: Nullable(Type.Integer()),
    is_moderated: Type.Boolean(),
  }),
  per_request_limits: Nullable(Type.Record(Type.String(), Type.Number())),
  supported_parameters: Strings,
  default_parameters: Nullable(DefaultParameters),
  supported_voices: Nullable(Strings),
  links: Type.Object({ details: Type.String() }),
  reasoning: Type.Optional(Type.Object(Type.Omit(Reasoning, ['wire']).properties)),
});
export type ModelEntry = Static<typeof ModelEntry>;

export const ModelList = Titled('ModelList', {
  object: Type.Literal('list'),
  data: Type.Array(ModelEntry),
  total_count: Type.Integer(),
  links: Type.Object({ next: Nullable(Type.String()) }),
});

export const ModelCount = Type.Object({ data: Type.Object({ count: Type.Integer() }) });
export const ModelResponse = Type.Object({ data: ModelEntry });

/** The messages format's model object, sent where its version header is. */
export const MessagesModel = Titled('MessagesModel', {
  type: Type.Literal('model'),
  id: Type.String(),
  display_name: Type.String(),
  created_at: Type.String({ description: 'RFC 3339' }),
  max_input_tokens: Nullable(Type.Integer()),
  max_tokens: Nullable(Type.Integer()),
  capabilities: Type.Null(),
  lifecycle: Type.Literal('active'),
  line: Type.Null(),
  deprecated_at: Type.Null(),
  retires_at: Type.Null(),
});
export type MessagesModel = Static<typeof MessagesModel>;

export const MessagesModelList = Titled('MessagesModelList', {
  data: Type.Array(MessagesModel),
  has_more: Type.Boolean(),
  first_id: Nullable(Type.String()),
  last_id: Nullable(Type.String()),
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
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 500,
      description: 'Without offset and limit: the whole list',
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
