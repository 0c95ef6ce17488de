/** Request fields that chat shares with text completions and responses. */
import Type from 'typebox';
import { Effort } from '../catalog.ts';
import { Described } from '../shapes.ts';

export const Reasoning = Type.Object(
  {
    effort: Type.Optional(
      Described(Effort, 'How much the model thinks; a level that it does not have is a 400'),
    ),
    enabled: Type.Optional(Type.Boolean({ description: 'False is the same as the effort `none`' })),
    summary: Type.Optional(
      Type.Enum(['auto', 'concise', 'detailed'], { description: 'Accepted; no engine makes summaries' }),
    ),
    max_tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Tokens it may think with, fewer than the completion may have; enforced where the entry of the model has `reasoning.supports_max_tokens`',
      }),
    ),
    exclude: Type.Optional(Type.Boolean({ description: 'Thinking is billed but not sent' })),
  },
  { description: 'How a model thinks before it answers' },
);

export const LogitBias = Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 }), {
  maxProperties: 2048,
  description: 'By token id, how much likelier the token becomes: -100 forbids it, 100 all but forces it',
});

export const StreamOptions = Type.Object(
  {
    include_usage: Type.Optional(
      Type.Boolean({
        description: 'Usage comes in a chunk of its own, without choices; otherwise it is on the last chunk',
      }),
    ),
    resumable: Type.Optional(
      Type.Boolean({ description: 'The stream goes on when the connection is lost: `GET /streams/{id}`' }),
    ),
  },
  { description: 'For `stream: true`' },
);

/** How tokens are chosen. */
export const sampling = {
  temperature: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 2,
      description: 'Randomness; 0 takes the likeliest token. The default of the model, else 1',
    }),
  ),
  top_p: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'Only the likeliest tokens with this probability together. The default of the model, else 1',
    }),
  ),
  top_k: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2 ** 31 - 1,
      description: 'Only so many of the likeliest tokens; 0: all',
    }),
  ),
  repetition_penalty: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 2,
      description: 'Above 1, tokens that occurred become less likely; 1 changes nothing',
    }),
  ),
  frequency_penalty: Type.Optional(
    Type.Number({
      minimum: -2,
      maximum: 2,
      description: 'Above 0, tokens become less likely each time they occur; 0 by default',
    }),
  ),
  presence_penalty: Type.Optional(
    Type.Number({
      minimum: -2,
      maximum: 2,
      description: 'Above 0, tokens that occurred at all become less likely; 0 by default',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({
      minimum: -(2 ** 63),
      maximum: 2 ** 63,
      description: 'Makes sampling repeatable as far as the engine can; random by default',
    }),
  ),
};

export const Stop = Type.Optional(
  Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })], {
    description: 'Up to 4 texts; generation ends before the first that occurs',
  }),
);

export const ModelName = (description: string) =>
  Type.String({ minLength: 1, maxLength: 512, description, examples: ['sluice/chat'] });

export const EndUser = Type.Optional(
  Type.String({ description: 'Your own id of the end user; sent to the engine' }),
);
