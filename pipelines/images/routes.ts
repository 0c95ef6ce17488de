/** Images: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { imageDocs } from './docs.ts';
import { imageRoutes, images } from './images.ts';
import { imagesModelEndpoints } from './model-endpoints.ts';
import { imagesModels } from './models.ts';

export const imagesRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: imageRoutes.create.path,
    access: 'key',
    // Pictures come as files or base64, 64 MiB of them together.
    bodyLimit: 128 * 1024 * 1024,
    pipeline: images(ports, imageRoutes.create),
    doc: imageDocs.create,
  },
  {
    method: 'POST',
    path: imageRoutes.generations.path,
    access: 'key',
    bodyLimit: 128 * 1024 * 1024,
    pipeline: images(ports, imageRoutes.generations),
    doc: imageDocs.generations,
  },
  {
    method: 'POST',
    path: imageRoutes.edits.path,
    access: 'key',
    bodyLimit: 128 * 1024 * 1024,
    pipeline: images(ports, imageRoutes.edits),
    doc: imageDocs.edits,
  },
  {
    method: 'GET',
    path: '/images/models',
    access: 'key',
    bodyLimit: 0,
    pipeline: imagesModels(ports),
    doc: imageDocs.models,
  },
  {
    method: 'GET',
    path: '/images/models/{author}/{slug}/endpoints',
    access: 'key',
    bodyLimit: 0,
    pipeline: imagesModelEndpoints(ports),
    doc: imageDocs.endpoints,
  },
];
