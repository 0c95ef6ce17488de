/** The capability spec of an image model: the rules of its requests, shown in its entry. */
import Type, { type Static } from 'typebox';
import { Closed, Described } from './shapes.ts';

const Whole = Type.Integer({ minimum: 1 });
const Name = Type.String({
  pattern: '^[a-z][a-z0-9_]{0,63}$',
  expected: 'a name such as num_inference_steps',
});

/** A width and a height. */
const PixelSize = Type.String({
  pattern: '^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$',
  expected: 'a width and a height such as 1024x1024',
});
const Ratio = '^[1-9][0-9]?(\\.[0-9])?:[1-9][0-9]?(\\.[0-9])?$';
const Label = '^[0-9]{1,4}(\\.[0-9])?K?$';

/** Other names of the parameter; of several that are sent the first in this order counts, the parameter's own before them. */
const aliases = Type.Optional(Type.Array(Name, { maxItems: 8, uniqueItems: true }));

const EnumOf = <T extends string>(values: readonly T[]) =>
  Closed({
    type: Type.Literal('enum'),
    values: Type.Array(Type.Enum([...values]), { minItems: 1, uniqueItems: true }),
    default: Type.Optional(Type.Enum([...values])),
  });

const WholeRange = Closed({
  type: Type.Literal('range'),
  min: Type.Integer(),
  max: Type.Integer(),
  also: Described(
    Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: 16 })),
    'Values outside the range that are taken too',
  ),
  default: Type.Optional(Type.Integer()),
  aliases,
});

const NumberRange = Closed({
  type: Type.Literal('range'),
  min: Type.Number(),
  max: Type.Number(),
  also: Type.Optional(Type.Array(Type.Number(), { minItems: 1, maxItems: 16 })),
  default: Type.Optional(Type.Number()),
  aliases,
});

const Text = Closed({ type: Type.Literal('string'), max_length: Whole, aliases });

/** The model takes it. */
const Taken = Closed({ type: Type.Literal('boolean') });

const SizeConstraint = Closed({
  type: Type.Literal('constraint'),
  multiple_of: Described(Whole, 'Both sides are multiples of this'),
  min_area: Described(Whole, 'Pixels of one image'),
  max_area: Whole,
  max_ratio: Described(Type.Number({ minimum: 1 }), 'The longer side is at most so many times the shorter'),
  max_total_area: Described(Type.Optional(Whole), 'Pixels of all images of a request together'),
  default: PixelSize,
});

const AspectRatios = Closed({
  type: Type.Literal('enum'),
  values: Type.Array(Type.String({ pattern: Ratio, expected: 'a ratio such as 16:9' }), {
    minItems: 1,
    maxItems: 64,
    uniqueItems: true,
  }),
  default: Described(Type.String(), 'Used where a resolution comes without a ratio'),
});

const Resolutions = Closed({
  type: Type.Literal('enum'),
  values: Type.Array(Type.String({ pattern: Label, expected: 'a label such as 512 or 1.5K' }), {
    minItems: 1,
    maxItems: 16,
    uniqueItems: true,
  }),
  default: Described(Type.String(), 'Used where an aspect ratio comes without a resolution'),
  sizes: Described(
    Type.Record(Type.String(), Type.Record(Type.String(), PixelSize)),
    'By resolution, then by aspect ratio',
  ),
});

/** Pictures a model works from. */
const References = Closed({
  type: Type.Literal('range'),
  min: Type.Literal(0),
  max: Described(Type.Integer({ minimum: 1, maximum: 64 }), 'Most pictures of a request'),
  formats: Described(
    Type.Array(Type.Enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']), {
      minItems: 1,
      uniqueItems: true,
    }),
    'Media types it reads',
  ),
  max_pixels: Described(Whole, 'Largest picture it reads'),
});

export const ImageParameters = Closed({
  n: Type.Optional(WholeRange),
  size: SizeConstraint,
  aspect_ratio: Type.Optional(AspectRatios),
  resolution: Type.Optional(Resolutions),
  seed: Type.Optional(Taken),
  output_format: EnumOf(['png', 'jpeg', 'webp']),
  output_compression: Type.Optional(WholeRange),
  background: Type.Optional(EnumOf(['auto', 'opaque', 'transparent'])),
  input_references: Type.Optional(References),
  mask: Type.Optional(Taken),
  steps: Type.Optional(WholeRange),
  guidance_scale: Type.Optional(NumberRange),
  negative_prompt: Type.Optional(Text),
});
export type ImageParameters = Static<typeof ImageParameters>;

/** Without it, or where it contradicts itself, an image model is not served. */
export const ImageCapabilities = Closed({
  max_prompt_length: Described(Whole, 'Unicode characters of a prompt'),
  streaming: Described(Type.Boolean(), 'Whether an image can be requested as a stream of events'),
  parameters: ImageParameters,
  step_scaling: Described(
    Type.Optional(
      Closed({
        per_step: Type.String({
          pattern: '^(0|[1-9][0-9]{0,2})(\\.[0-9]{1,3})?$',
          expected: "a decimal number in quotes with up to three digits after the point, such as '0.05'",
        }),
      }),
    ),
    "Billed megapixels are the image's own times steps times this",
  ),
});
export type ImageCapabilities = Static<typeof ImageCapabilities>;
