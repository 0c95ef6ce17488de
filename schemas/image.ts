/** Requests and responses of the image routes. Limits are checked by the model's own spec. */
import Type, { type Static } from 'typebox';
import { MediaText } from './chat/content.ts';
import { CountOf, Described, ignoredFields, Nullable, Titled, UnixSeconds } from './shapes.ts';

const MediaUrl = MediaText('https URL or base64 data URI');

const Picture = Type.Object({
  image_url: Type.Optional(MediaUrl),
  file_id: Type.Optional(Type.Unknown({ description: 'Refused: no files are stored' })),
});

const Reference = Type.Object({
  type: Type.Literal('image_url', { description: 'There are no other references' }),
  image_url: Type.Object({ url: MediaUrl }, { description: 'Where the image comes from; up to 20 MB' }),
});

/** As it is checked first: types only. */
export const ImageFields = Titled('ImageRequest', {
  prompt: Type.String({
    minLength: 1,
    description: 'What the image shows; up to 4000 Unicode characters on the default model',
  }),
  model: Type.Optional(
    Type.String({
      description: 'Id of an image model; the default image model when absent',
      examples: ['sluice/image'],
    }),
  ),
  n: Type.Optional(
    Type.Integer({
      description:
        'Images, 1 to 10; 1 by default. They are generated together: another number changes all of them',
    }),
  ),
  response_format: Type.Optional(
    Type.Enum(['url', 'b64_json'], {
      description: 'b64_json on /images, url on the other two by default; a url expires after one hour',
    }),
  ),
  size: Type.Optional(
    Type.String({
      description:
        '`WIDTHxHEIGHT`, a resolution such as `2K`, or `auto`; 1024x1024 by default. `GET /images/models` has the bounds of each model',
    }),
  ),
  width: Type.Optional(Type.Integer({ minimum: 1, description: 'Deprecated: part of size' })),
  height: Type.Optional(Type.Integer({ minimum: 1, description: 'Deprecated: part of size' })),
  aspect_ratio: Type.Optional(
    Type.String({ description: 'Such as `16:9`: picks the size, alone or with a resolution' }),
  ),
  resolution: Type.Optional(
    Type.String({ description: 'Such as `1K`: picks the size, alone or with an aspect ratio' }),
  ),
  seed: Type.Optional(
    Type.Unknown({
      description:
        'An integer of 64 bits; random by default. The same seed gives the same images while all other fields are equal',
    }),
  ),
  output_format: Type.Optional(Type.String({ description: '`png` (the default), `jpeg` or `webp`' })),
  output_compression: Type.Optional(
    Type.Integer({ description: '0 to 100: quality of jpeg and webp, compression level of png' }),
  ),
  background: Type.Optional(
    Type.String({
      description:
        '`auto` (the default), `opaque` or `transparent`; the last needs png or webp and a model for it',
    }),
  ),
  input_references: Type.Optional(
    Type.Array(Reference, { description: 'Images to work from, on models with reference editing' }),
  ),
  images: Type.Optional(
    Type.Array(Picture, { description: 'Images to edit; up to 20 MB each, 64 MB together' }),
  ),
  mask: Type.Optional(
    Type.Object(Picture.properties, {
      description: 'A PNG that marks what is edited; needs an image to edit',
    }),
  ),
  provider: Type.Optional(
    Type.Object(
      {
        options: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: 'Settings by name; one that the model does not take is a 400',
          }),
        ),
      },
      { description: 'options may carry steps, guidance_scale and negative_prompt; the rest is ignored' },
    ),
  ),
  stream: Type.Optional(
    Type.Boolean({ description: 'Sends one event with the image as base64; only for one image' }),
  ),
  partial_images: Type.Optional(Type.Literal(0, { description: 'No unfinished images are sent' })),
  quality: Type.Optional(
    Type.Enum(['auto', 'low', 'medium', 'high', 'standard', 'hd'], {
      description: 'Accepted and ignored',
    }),
  ),
  ...ignoredFields,
});
export type ImageFields = Static<typeof ImageFields>;

const File = Type.String({ format: 'binary' });

/** The same as a form, for the OpenAPI document. */
export const ImageForm = Titled('ImageForm', {
  ...Type.Omit(ImageFields, ['images', 'mask', 'provider', 'input_references']).properties,
  image: Type.Optional(Type.Array(File, { description: 'Sent as image[], or image where there is one' })),
  mask: Type.Optional(
    Type.String({ format: 'binary', description: 'A PNG that marks what is edited; needs an image' }),
  ),
  provider: Type.Optional(Type.String({ description: 'The object of the JSON body, as JSON text' })),
  input_references: Type.Optional(Type.String({ description: 'The list of the JSON body, as JSON text' })),
});

const none = CountOf('Always 0: images are billed by megapixels');

const ImageUsage = Type.Object({
  prompt_tokens: none,
  completion_tokens: none,
  total_tokens: none,
  input_tokens: none,
  output_tokens: none,
  input_tokens_details: Type.Object({ text_tokens: none, image_tokens: none }),
  cost: Type.Number({ description: 'US dollars billed: megapixels times the price of the model' }),
  megapixels: Type.Number({
    description: 'Billed: those of every image, times the step scaling of models that have one',
  }),
});

const about = {
  size: Type.String({ description: 'The size generated' }),
  output_format: Type.String({ description: '`png`, `jpeg` or `webp`' }),
  background: Type.Enum(['transparent', 'opaque'], {
    description: '`transparent` only where the image really is',
  }),
  usage: ImageUsage,
};

export const ImageResponse = Titled('ImageResponse', {
  created: UnixSeconds(),
  data: Type.Array(
    Type.Object({
      b64_json: Type.Optional(Type.String({ description: 'The file, with `response_format: b64_json`' })),
      url: Type.Optional(
        Type.String({
          description: 'A link that needs no key, with `response_format: url`; valid for one hour',
        }),
      ),
      media_type: Type.Enum(['image/png', 'image/jpeg', 'image/webp']),
      revised_prompt: Type.Optional(
        Type.String({ description: 'The prompt, where the engine has rewritten it' }),
      ),
    }),
  ),
  ...about,
});

export const ImageCompletedEvent = Type.Object(
  {
    type: Type.Literal('image_generation.completed'),
    b64_json: Type.String({ description: 'The file' }),
    created: UnixSeconds(),
    created_at: UnixSeconds('The same as `created`'),
    media_type: Type.String({ description: 'Such as `image/png`' }),
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
  id: Type.String({ description: 'What requests name it by' }),
  name: Type.String({ description: 'Name for people' }),
  description: Type.String({ description: 'What it is good for' }),
  created: UnixSeconds(),
  endpoints: Type.String({ description: 'Path of its endpoint record' }),
  architecture: Type.Object({ input_modalities: Modalities, output_modalities: Modalities }),
  supported_parameters: Described(Descriptors, 'Every parameter it takes, by name'),
  supports_streaming: Type.Boolean({ description: 'Whether it takes `stream: true`' }),
});
export type ImageModelEntry = Static<typeof ImageModelEntry>;

export const ImageModelList = Titled('ImageModelList', { data: Type.Array(ImageModelEntry) });

export const ImageEndpoints = Titled('ImageEndpoints', {
  id: Type.String({ description: 'What requests name it by' }),
  endpoints: Type.Array(
    Type.Object({
      provider_name: Type.String({ description: "The operator's name" }),
      provider_slug: Type.String({ description: 'What `provider.options` may be keyed by' }),
      provider_tag: Nullable(Type.String()),
      supported_parameters: Described(Descriptors, 'Every parameter it takes, by name'),
      supports_streaming: Type.Boolean({ description: 'Whether it takes `stream: true`' }),
      allowed_passthrough_parameters: Type.Array(Type.String(), {
        description: 'Names taken under provider.options, and at the top level',
      }),
      pricing: Type.Array(
        Type.Object({
          billable: Type.Literal('output_image'),
          unit: Type.Literal('megapixel'),
          cost_usd: Type.Number({ description: 'US dollars for each unit' }),
        }),
      ),
    }),
  ),
});
export type ImageEndpoints = Static<typeof ImageEndpoints>;
