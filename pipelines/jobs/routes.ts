/** Video and music jobs, and links to stored outputs: the rows of the route table. */
import type { Ports } from '../../src/ports/ports.ts';
import type { Route } from '../route.ts';
import { blobDocs } from './blob-docs.ts';
import { blobLink } from './blob-link.ts';
import { jobContent } from './content.ts';
import { jobGet } from './get.ts';
import { jobList } from './list.ts';
import { musicCreate } from './music-create.ts';
import { musicDocs } from './music-docs.ts';
import { musicModels } from './music-models.ts';
import { musicStream } from './music-stream.ts';
import { jobRemove } from './remove.ts';
import { videosCreate } from './videos-create.ts';
import { videoDocs } from './videos-docs.ts';
import { videosModels } from './videos-models.ts';

export const jobsRoutes = (ports: Ports): readonly Route[] => [
  {
    method: 'POST',
    path: '/videos',
    access: 'key',
    // Frames and references come as base64.
    bodyLimit: 128 * 1024 * 1024,
    pipeline: videosCreate(ports),
    doc: videoDocs.create,
  },
  {
    method: 'GET',
    path: '/videos',
    access: 'key',
    bodyLimit: 0,
    pipeline: jobList(ports, 'video'),
    doc: videoDocs.list,
  },
  {
    method: 'GET',
    path: '/videos/models',
    access: 'key',
    bodyLimit: 0,
    pipeline: videosModels(ports),
    doc: videoDocs.models,
  },
  {
    method: 'GET',
    path: '/videos/{id}',
    access: 'key',
    bodyLimit: 0,
    pipeline: jobGet(ports, 'video'),
    doc: videoDocs.get,
  },
  {
    method: 'DELETE',
    path: '/videos/{id}',
    access: 'key',
    bodyLimit: 0,
    pipeline: jobRemove(ports, 'video'),
    doc: videoDocs.remove,
  },
  {
    method: 'GET',
    path: '/videos/{id}/content',
    access: 'key',
    bodyLimit: 0,
    pipeline: jobContent(ports, 'video'),
    doc: videoDocs.content,
  },
  {
    method: 'POST',
    path: '/music',
    access: 'key',
    bodyLimit: 1024 * 1024,
    pipeline: musicCreate(ports),
    doc: musicDocs.create,
  },
  {
    method: 'GET',
    path: '/music',
    access: 'key',
    bodyLimit: 0,
    pipeline: jobList(ports, 'music'),
    doc: musicDocs.list,
  },
  {
    method: 'GET',
    path: '/music/models',
    access: 'key',
    bodyLimit: 0,
    pipeline: musicModels(ports),
    doc: musicDocs.models,
  },
  {
    method: 'GET',
    path: '/music/{id}',
    access: 'key',
    bodyLimit: 0,
    pipeline: jobGet(ports, 'music'),
    doc: musicDocs.get,
  },
  {
    method: 'DELETE',
    path: '/music/{id}',
    access: 'key',
    bodyLimit: 0,
    pipeline: jobRemove(ports, 'music'),
    doc: musicDocs.remove,
  },
  {
    method: 'GET',
    path: '/music/{id}/content',
    access: 'key',
    bodyLimit: 0,
    pipeline: jobContent(ports, 'music'),
    doc: musicDocs.content,
  },
  {
    method: 'GET',
    path: '/music/{id}/stream',
    access: 'key',
    bodyLimit: 0,
    pipeline: musicStream(ports),
    doc: musicDocs.stream,
  },
  {
    method: 'GET',
    path: '/blobs/{name+}',
    access: 'public',
    bodyLimit: 0,
    pipeline: blobLink(ports),
    doc: blobDocs.link,
  },
];
