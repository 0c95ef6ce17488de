/** Model entries as clients read them, in the public format and the messages format. */
import type { Model } from '../../schemas/catalog.ts';
import type { MessagesModel, ModelEntry } from '../../schemas/model-entry.ts';

type ReasoningRow = NonNullable<Model['reasoning']>;
type PublicReasoning = NonNullable<ModelEntry['reasoning']>;

/** Models never change once loaded, so each is rendered once. */
const texts = new WeakMap<Model, string>();

export const entryText = (model: Model): string => {
  const known = texts.get(model);
  if (known !== undefined) return known;
  const text = JSON.stringify(modelEntry(model));
  texts.set(model, text);
  return text;
};

export const modelEntry = (model: Model): ModelEntry => {
  const contextLength = model.context_length ?? null;
  return {
    id: model.id,
    object: 'model',
    owned_by: authorOf(model.id),
    canonical_slug: model.id,
    hugging_face_id: model.hugging_face_id ?? null,
    name: model.name,
    created: model.created,
    description: model.description,
    context_length: contextLength,
    architecture: {
      modality: `${model.input_modalities.join('+')}->${model.output_modalities.join('+')}`,
      input_modalities: model.input_modalities,
      output_modalities: model.output_modalities,
      tokenizer: model.tokenizer,
      instruct_type: model.instruct_type ?? null,
    },
    pricing: model.pricing,
    top_provider: {
      context_length: contextLength,
      max_completion_tokens: model.max_completion_tokens ?? null,
      is_moderated: model.is_moderated,
    },
    per_request_limits: requestLimits(model),
    supported_parameters: model.supported_parameters,
    default_parameters: model.default_parameters ?? null,
    supported_voices: model.kind === 'speech' ? voicesOf(model).map(({ id }) => id) : null,
    links: { details: detailsPath(model.id) },
    ...(model.reasoning === undefined ? {} : { reasoning: publicReasoning(model.reasoning) }),
  };
};

export const messagesModel = (model: Model, id: string): MessagesModel => ({
  type: 'model',
  id,
  display_name: model.name,
  created_at: new Date(model.created * 1000).toISOString(),
  max_input_tokens: model.context_length ?? null,
  max_tokens: model.max_completion_tokens ?? model.context_length ?? null,
  capabilities: null,
  lifecycle: 'active',
  line: null,
  deprecated_at: null,
  retires_at: null,
});

/** Some clients know token limits only and reject limits without them. */
const requestLimits = (model: Model): ModelEntry['per_request_limits'] =>
  model.per_request_limits === undefined
    ? null
    : {
        prompt_tokens: model.context_length ?? 0,
        completion_tokens: model.max_completion_tokens ?? 0,
        ...model.per_request_limits,
      };

/** Without what only the engine gets. */
const publicReasoning = ({ wire: _, ...shown }: ReasoningRow): PublicReasoning => shown;

const authorOf = (id: string): string => (id.includes('/') ? id.slice(0, id.indexOf('/')) : 'sluice');

const detailsPath = (id: string): string => `/v1/model/${id.includes('/') ? '' : 'sluice/'}${id}`;

export interface Voice {
  readonly id: string;
  readonly kind: 'builtin' | 'design' | 'clone';
}

/** Every value of `voice`: its speakers, the default one first, and what it can make of a description or a clip. */
export const voicesOf = ({ voices = [], capabilities }: Model): readonly Voice[] => [
  ...voices.map((id): Voice => ({ id, kind: 'builtin' })),
  ...(capabilities?.speech?.design === true ? [{ id: 'design', kind: 'design' } as const] : []),
  ...(capabilities?.speech?.clone === true ? [{ id: 'clone', kind: 'clone' } as const] : []),
];
