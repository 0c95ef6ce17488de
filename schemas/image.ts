/** Requests and responses of the image routes. Limits are checked by the model's own spec. */
import Type, { type Static } from 'typebox';
import { MediaText } from './chat.ts';
import { Count, ignoredFields, Nullable, Titled } from './shapes.ts';

const MediaUrl = MediaText('https URL or base64 data URI');

const Picture = Type.Object({
  image_url: Type.Optional(MediaUrl),
  file_id: Type.Optional(Type.Unknown({ description: 'Not supported' })),
});

const Reference = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Object({ url: MediaUrl }),
});

/** As it is checked first: types only. */
export const ImageFields = Titled('ImageRequest', {
  prompt: Type.String({ minLength: 1, description: "At most the model's maximum of Unicode characters" }),
  model: Type.Optional(Type.String({ description: 'The default image model when absent' })),
  n: Type.Optional(Type.Integer({ description: 'Images wanted; 1 by default' })),
  response_format: Type.Optional(
    Type.Enum(['url', 'b64_json'], {
      description: 'b64_json on /images, url on the other two by default; a url expires after one hour',
    }),
  ),
  size: Type.Optional(Type.String({ description: 'WIDTHxHEIGHT, a resolution, or auto' })),
  width: Type.Optional(Type.Integer({ minimum: 1, description: 'Deprecated: part of size' })),
  height: Type.Optional(Type.Integer({ minimum: 1, description: 'Deprecated: part of size' })),
  aspect_ratio: Type.Optional(Type.String()),
  resolution: Type.Optional(Type.String()),
  seed: Type.Optional(Type.Unknown({ description: 'An integer of 64 bits; random by default' })),
  output_format: Type.Optional(Type.String({ description: 'png by default' })),
  output_compression: Type.Optional(Type.Integer()),
  background: Type.Optional(Type.String({ description: 'auto by default' })),
  input_references: Type.Optional(Type.Array(Reference)),
  images: Type.Optional(Type.Array(Picture, { description: 'Pictures to edit' })),
  mask: Type.Optional(Type.Object(Picture.properties, { description: 'A PNG; needs a picture' })),
  provider: Type.Optional(
    Type.Object(
      { options: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
      { description: 'options may carry steps, guidance_scale and negative_prompt; the rest is ignored' },
    ),
  ),
  stream: Type.Optional(Type.Boolean({ description: 'One event with the image; only with n 1' })),
  partial_images: Type.Optional(Type.Literal(0)),
  quality: Type.Optional(
    Type.Enum(['auto', 'low', 'medium', 'high', 'standard', 'hd'], { description: 'Ignored' }),
  ),
  ...ignoredFields,
});
export type ImageFields = Static<typeof ImageFields>;

const File = Type.String({ format: 'binary' });

/** The same as a form, for the OpenAPI document. */
export const ImageForm = Titled('ImageForm', {
  ...Type.Omit(ImageFields, ['images', 'mask', 'provider', 'input_references']).properties,
  image: Type.Optional(Type.Array(File, { description: 'Sent as image[], or image where there is one' })),
  mask: Type.Optional(File),
  provider: Type.Optional(Type.String({ description: 'JSON' })),
  input_references: Type.Optional(Type.String({ description: 'JSON' })),
});

const ImageUsage = Type.Object({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  input_tokens: Count,
  output_tokens: Count,
  input_tokens_details: Type.Object({ text_tokens: Count, image_tokens: Count }),
  cost: Type.Number({ description: 'Dollars billed' }),
  megapixels: Type.Number({
    description: 'Billed: those of every image, times the step scaling of models that have one',
  }),
});

const about = {
  size: Type.String(),
  output_format: Type.String(),
  background: Type.Enum(['transparent', 'opaque']),
  usage: ImageUsage,
};

export const ImageResponse = Titled('ImageResponse', {
  created: Type.Integer(),
  data: Type.Array(
    Type.Object({
      b64_json: Type.Optional(Type.String()),
      url: Type.Optional(Type.String({ description: 'Expires after one hour' })),
      media_type: Type.Enum(['image/png', 'image/jpeg', 'image/webp']),
      revised_prompt: Type.Optional(Type.String()),
    }),
  ),
  ...about,
});

export const ImageCompletedEvent = Type.Object(
  {
    type: Type.Literal('image_generation.completed'),
    b64_json: Type.String(),
    created: Type.Integer(),
    created_at: Type.Integer(),
    media_type: Type.String(),
    quality: Type.Literal('auto'),
    ...about,
  },
  { title: 'ImageCompletedEvent', description: 'Sent as an event; then `[DONE]`' },
);

/** By name; each has a `type`: enum, range, boolean, string, or constraint for the size. */
const Descriptors = Type.Record(
  Type.String(),
  Type.Record(Type.String(), Type.Unknown(), {
    description: 'What the parameter takes, by its type: enum, range, boolean, string or constraint',
  }),
);

const Modalities = Type.Array(Type.String());

export const ImageModelEntry = Titled('ImageModelEntry', {
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  created: Type.Integer(),
  endpoints: Type.String({ description: 'Where its endpoint record is' }),
  architecture: Type.Object({ input_modalities: Modalities, output_modalities: Modalities }),
  supported_parameters: Descriptors,
  supports_streaming: Type.Boolean(),
});
export type ImageModelEntry = Static<typeof ImageModelEntry>;

export const ImageModelList = Titled('ImageModelList', { data: Type.Array(ImageModelEntry) });

export const ImageEndpoints = Titled('ImageEndpoints', {
  id: Type.String(),
  endpoints: Type.Array(
    Type.Object({
      provider_name: Type.String(),
      provider_slug: Type.String(),
      provider_tag: Nullable(Type.String()),
      supported_parameters: Descriptors,
      supports_streaming: Type.Boolean(),
      allowed_passthrough_parameters: Type.Array(Type.String(), {
        description: 'Names taken under provider.options, and at the top level',
      }),
      pricing: Type.Array(
        Type.Object({
          billable: Type.Literal('output_image'),
          unit: Type.Literal('megapixel'),
          cost_usd: Type.Number(),
        }),
      ),
    }),
  ),
});
export type ImageEndpoints = Static<typeof ImageEndpoints>;
