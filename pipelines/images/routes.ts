/** Routes of images. */
import Type from 'typebox';
import {
  editsExamples,
  generationsExamples,
  imageEndpointsExamples,
  imageModelsExamples,
  imagesExamples,
} from '../../schemas/examples/images.ts';
import {
  ImageCompletedEvent,
  ImageEndpoints,
  ImageFields,
  ImageForm,
  ImageModelList,
  ImageResponse,
} from '../../schemas/image.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { callHeaders, generationErrors, mediaBodyLimit, type Route } from '../route.ts';
import { images } from './images.ts';
import { imagesModelEndpoints, imagesModels } from './models.ts';
import type { ImageRoute } from './read-request.ts';

const tag = 'Images';

const rules =
  'Sizes and settings depend on the model: see `GET /images/models`. A link needs no key and is valid for one hour. With `stream` one event carries the image. Billed by the megapixels of the images returned; failures are not billed.';

/** One implementation: the routes differ in the default of `response_format`. */
const imageRoute = (
  ports: Ports,
  route: ImageRoute,
  doc: Pick<RouteDoc, 'summary' | 'description' | 'examples'>,
): Route => ({
  method: 'POST',
  path: route.path,
  bodyLimit: mediaBodyLimit,
  pipeline: admitBeforeBody(ports, 'image', images(ports, route)),
  doc: {
    tag,
    ...doc,
    replyHeaders: callHeaders,
    body: { ...json(ImageFields), 'multipart/form-data': ImageForm },
    response: { ...json(ImageResponse), 'text/event-stream': ImageCompletedEvent },
    errors: generationErrors,
  },
});

export const imagesRoutes = (ports: Ports): readonly Route[] => [
  imageRoute(
    ports,
    { path: '/images', responseFormat: 'b64_json' },
    {
      summary: 'Create images',
      description: `Makes 1 to 10 images from a prompt, and from reference images where the model takes them; base64 by default. ${rules}`,
      examples: imagesExamples,
    },
  ),
  imageRoute(
    ports,
    { path: '/images/generations', responseFormat: 'url' },
    {
      summary: 'Generate images',
      description: `The same as \`POST /images\`, but with links by default. ${rules}`,
      examples: generationsExamples,
    },
  ),
  imageRoute(
    ports,
    { path: '/images/edits', responseFormat: 'url', edits: true },
    {
      summary: 'Edit images',
      description: `Changes images as the prompt says, on models with reference editing; links by default. Send files as a form, or addresses and data URIs as JSON: up to 20 MB each and 64 MB together. ${rules}`,
      examples: editsExamples,
    },
  ),
  {
    method: 'GET',
    path: '/images/models',
    pipeline: imagesModels(ports),
    doc: {
      tag,
      summary: 'List image models',
      description:
        'The image models on offer, with a descriptor of every parameter that each takes: its values, its range, or the constraint of its size.',
      examples: imageModelsExamples,
      response: json(ImageModelList),
      errors: [502, 503],
    },
  },
  {
    method: 'GET',
    path: '/images/models/{author}/{slug}/endpoints',
    pipeline: imagesModelEndpoints(ports),
    doc: {
      tag,
      summary: "Get an image model's endpoints",
      description:
        'What an image model takes, which names may stand under `provider.options`, and its price per megapixel.',
      params: Type.Object({
        author: Type.String({ description: 'Any value: only the slug is looked up', examples: ['sluice'] }),
        slug: Type.String({
          description: 'Id of the model, or its part after the slash',
          examples: ['image'],
        }),
      }),
      examples: imageEndpointsExamples,
      response: json(ImageEndpoints),
      errors: [404, 502, 503],
    },
  },
];
