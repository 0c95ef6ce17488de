/** What the gateway reads of the responses of engines; other fields are allowed and ignored. */
import Type, { type TProperties } from 'typebox';
import { Nullable } from '../shapes.ts';

const Read = <Fields extends TProperties>(description: string, fields: Fields) =>
  Type.Object(fields, { description });

const Text = Type.String();
const Optional = Type.Optional;

export const EngineFailure = Read(
  'Any failure. `{"error": "…"}`, `{"message": "…"}` and `{"detail": …}` are understood too',
  {
    error: Type.Object({
      message: Type.String({
        minLength: 1,
        description: 'One sentence; of a 400, 413 or 422 it is what the client reads',
      }),
      type: Optional(Nullable(Text)),
      code: Optional(Type.Union([Text, Type.Integer(), Type.Null()])),
    }),
  },
);

export const ImagesResponse = Read('As many images as were requested', {
  data: Type.Array(
    Type.Object({
      b64_json: Optional(Nullable(Type.String({ description: 'The file as base64' }))),
      url: Optional(
        Nullable(
          Type.String({
            description: 'In place of `b64_json`: a data URI, a link to this server, or a public https link',
          }),
        ),
      ),
      revised_prompt: Optional(Nullable(Text)),
    }),
    { minItems: 1 },
  ),
});

const states = ['queued', 'pending', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'] as const;

export const EngineJobRecord = Read('A render: the response to POST and to GET', {
  id: Type.String({ minLength: 1 }),
  status: Type.Enum([...states], {
    description: '`completed`: the files can be downloaded. The last three are final failures',
  }),
  progress: Optional(
    Nullable(
      Type.Number({ minimum: 0, maximum: 100, description: 'Percent; without it the gateway estimates' }),
    ),
  ),
  error: Optional(
    Nullable(
      Type.Union([
        Text,
        Type.Object({
          message: Type.String({ description: 'Why it failed; the client reads it' }),
          code: Optional(
            Type.Union([
              Type.Integer(),
              Type.String({
                description:
                  '`render_failed`, `content_policy`, `invalid_input_media`, `media_download_failed`, `timeout`, `out_of_memory`, `engine_unavailable` or `internal_error`; any other counts as `render_failed`',
              }),
            ]),
          ),
        }),
      ]),
    ),
  ),
  error_code: Optional(Nullable(Type.String({ description: 'In place of `error.code`' }))),
});

export const Transcript = Read('The text of the recording', { text: Text });

export const TranscriptEvent = Type.Union(
  [
    Type.Object({ type: Type.Literal('transcript.text.delta'), delta: Text }),
    Type.Object({
      type: Type.Literal('transcript.text.done'),
      text: Optional(Type.String({ description: 'All of it; needed where no delta came' })),
    }),
    Type.Object({
      choices: Type.Array(Type.Object({ delta: Type.Object({ content: Optional(Nullable(Text)) }) })),
    }),
    EngineFailure,
  ],
  {
    description:
      'Data of one server-sent event: OpenAI’s events, or chunks in the form of chat. The last is `transcript.text.done` or `[DONE]`',
  },
);

const usage = Optional(
  Nullable(
    Type.Object(
      {
        prompt_tokens: Optional(Type.Integer({ minimum: 0 })),
        total_tokens: Optional(Type.Integer({ minimum: 0 })),
      },
      { description: 'What is billed; without it the gateway counts by `tokenizer`' },
    ),
  ),
);

export const EmbeddingsResponse = Read('One vector for each input', {
  data: Type.Array(
    Type.Object({
      index: Optional(Type.Integer({ minimum: 0, description: 'Absent: in the order of the inputs' })),
      embedding: Type.Union([
        Type.Array(Type.Number(), { minItems: 1 }),
        Type.String({ description: 'Base64 of little-endian float32 numbers; either is understood' }),
      ]),
    }),
  ),
  usage,
});

const result = {
  index: Type.Integer({ minimum: 0, description: 'Place of the document in the request' }),
};
const results = Type.Array(
  Type.Union([
    Type.Object({ ...result, relevance_score: Type.Number() }),
    Type.Object({ ...result, score: Type.Number() }),
  ]),
  { minItems: 1, description: 'One for each document, in any order; more is more relevant' },
);

export const EngineRerankResponse = Type.Union([Type.Object({ results, usage }), results], {
  description: 'A score for each document: an object around the results, or their bare list',
});
