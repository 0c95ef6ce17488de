/** Routes of images. */
import {
  ImageCompletedEvent,
  ImageEndpoints,
  ImageFields,
  ImageForm,
  ImageModelList,
  ImageResponse,
} from '../../schemas/image.ts';
import { json } from '../../schemas/openapi.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admitBeforeBody } from '../core/admit-before-body.ts';
import { generationErrors, mediaBodyLimit, type Route } from '../route.ts';
import { images } from './images.ts';
import { imagesModelEndpoints, imagesModels } from './models.ts';
import type { ImageRoute } from './read-request.ts';

const tag = 'Images';

/** One implementation: the routes differ in the default of `response_format`. */
const imageRoute = (ports: Ports, route: ImageRoute, summary: string): Route => ({
  method: 'POST',
  path: route.path,
  bodyLimit: mediaBodyLimit,
  pipeline: admitBeforeBody(ports, 'image', images(ports, route)),
  doc: {
    tag,
    summary,
    body: { ...json(ImageFields), 'multipart/form-data': ImageForm },
    response: { ...json(ImageResponse), 'text/event-stream': ImageCompletedEvent },
    errors: generationErrors,
  },
});

export const imagesRoutes = (ports: Ports): readonly Route[] => [
  imageRoute(
    ports,
    { path: '/images', responseFormat: 'b64_json' },
    'Images from a prompt and perhaps reference images; base64 by default',
  ),
  imageRoute(ports, { path: '/images/generations', responseFormat: 'url' }, 'The same; links by default'),
  imageRoute(
    ports,
    { path: '/images/edits', responseFormat: 'url', edits: true },
    'Images edited as the prompt says; links by default',
  ),
  {
    method: 'GET',
    path: '/images/models',
    pipeline: imagesModels(ports),
    doc: {
      tag,
      summary: 'Image models and what they take',
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
      summary: "One image model's endpoint record",
      response: json(ImageEndpoints),
      errors: [404, 502, 503],
    },
  },
];
