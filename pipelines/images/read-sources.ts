/** Lists the pictures that an image request works from: 400 names the field. */
import type { Model } from '../../schemas/catalog.ts';
import type { ImageFields } from '../../schemas/image.ts';
import type { ImageCapabilities } from '../../schemas/image-capabilities.ts';
import type { ApiError } from '../../src/errors.ts';
import { checkSource } from '../../src/media/check-source.ts';
import type { Base64 } from '../../src/ports/media.ts';
import { invalid, sourceOf } from '../core/checks.ts';
import type { ImageBody, ImageFile } from './read-body.ts';
import type { ImageRoute } from './read-request.ts';

export interface ImageSource {
  /** Its path in the request, named in errors. */
  readonly field: string;
  /** Bytes of a file, or an https URL or data URI. */
  readonly from: { readonly bytes: Buffer } | { readonly url: Base64 };
}

interface ImageSources {
  readonly references: readonly ImageSource[];
  readonly mask: ImageSource | undefined;
}

interface Rules {
  readonly route: ImageRoute;
  readonly model: Model;
  readonly spec: ImageCapabilities;
  readonly allowPrivateUrls: boolean;
}

/** In this order: files of the form, `images`, `input_references`. Nothing is fetched yet. */
export const readImageSources = (fields: ImageFields, body: ImageBody, rules: Rules): ImageSources => {
  const files = body.files.filter(({ name }) => name !== 'mask');
  const references = [
    ...files.map((file, index) => fileSource(file, files.length === 1 ? 'image' : `image[${index}]`)),
    ...(fields.images ?? []).map((item, index) => pictureSource(item, `images[${index}]`)),
    ...(fields.input_references ?? []).map(
      (item, index): ImageSource => urlSource(item.image_url.url, `input_references[${index}].image_url.url`),
    ),
  ];
  const mask = maskSource(fields, body);
  checkTaken(fields, body, rules, { references, mask });
  for (const { field, from } of mask === undefined ? references : [...references, mask])
    if ('url' in from) checkSource(from.url, field, { allowPrivate: rules.allowPrivateUrls });
  return { references, mask };
};

const checkTaken = (
  fields: ImageFields,
  { files, isForm }: ImageBody,
  { route, model, spec: { parameters } }: Rules,
  { references, mask }: ImageSources,
): void => {
  const named = isForm ? 'image' : 'images';
  const sent =
    files.some(({ name }) => name !== 'mask') || fields.images !== undefined
      ? named
      : fields.input_references !== undefined
        ? 'input_references'
        : mask && 'mask';
  const { input_references: rule } = parameters;
  const field = sent ?? named;
  if (rule === undefined && (sent !== undefined || route.edits))
    throw refuse(`${field} is not supported by model ${model.id}: it takes no reference images`);
  if (mask !== undefined && parameters.mask === undefined)
    throw refuse(`mask is not supported by model ${model.id}`);
  if (references.length > (rule?.max ?? 0))
    throw refuse(`${field} must have at most ${rule?.max} images for model ${model.id}`);
  if (references.length > 0) return;
  if (mask !== undefined) throw refuse(`mask needs at least one ${isForm ? 'image' : 'item in images'}`);
  if (route.edits) throw refuse(`${field} is required`);
};

const maskSource = ({ mask }: ImageFields, { files }: ImageBody): ImageSource | undefined => {
  const file = files.find(({ name }) => name === 'mask');
  if (file !== undefined) return fileSource(file, 'mask');
  return mask === undefined ? undefined : pictureSource(mask, 'mask');
};

const fileSource = ({ bytes }: ImageFile, field: string): ImageSource => {
  if (bytes.length === 0) throw refuse(`${field} is empty`);
  return { field, from: { bytes } };
};

type Picture = NonNullable<ImageFields['mask']>;

/** The URL by itself, or as `{url}`, as chat has it. */
const pictureSource = ({ image_url: image, file_id: id }: Picture, field: string): ImageSource => {
  if (id !== undefined) throw refuse(`${field}.file_id is not supported; send image_url`);
  if (image === undefined) throw refuse(`${field}.image_url is required`);
  return isUrlObject(image)
    ? urlSource(image.url, `${field}.image_url.url`)
    : urlSource(image, `${field}.image_url`);
};

const isUrlObject = (value: unknown): value is { url: unknown } =>
  typeof value === 'object' && value !== null && 'url' in value;

const urlSource = (url: unknown, field: string): ImageSource => ({
  field,
  from: { url: sourceOf(url, field) },
});

const refuse = (message: string): ApiError => invalid(message);
