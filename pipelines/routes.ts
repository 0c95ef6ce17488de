/** The one table of routes: everything the gateway answers, and what answers it. */

import type { Ports } from '../src/ports/ports.ts';
import { health } from './account/health.ts';
import { openapi } from './account/openapi.ts';
import { usage } from './account/usage.ts';
import { usageDocs } from './account/usage-docs.ts';
import { webhookDocs } from './account/webhook-docs.ts';
import { webhooksSecret } from './account/webhooks-secret.ts';
import { webhooksSecretRotate } from './account/webhooks-secret-rotate.ts';
import { audioDocs } from './audio/docs.ts';
import { audioSpeech } from './audio/speech.ts';
import { audioTranscriptions } from './audio/transcriptions.ts';
import { audioVoices } from './audio/voices.ts';
import { chatCompletions } from './chat/completions.ts';
import { chatDocs } from './chat/docs.ts';
import { decisionDocs } from './decisions/docs.ts';
import { systemOne } from './decisions/systemone.ts';
import { embeddingDocs } from './embeddings/docs.ts';
import { embeddings } from './embeddings/embeddings.ts';
import { embeddingModels } from './embeddings/models.ts';
import { imageDocs } from './images/docs.ts';
import { imageRoutes, images } from './images/images.ts';
import { imagesModelEndpoints } from './images/model-endpoints.ts';
import { imagesModels } from './images/models.ts';
import { blobDocs } from './jobs/blob-docs.ts';
import { blobLink } from './jobs/blob-link.ts';
import { jobContent } from './jobs/content.ts';
import { jobGet } from './jobs/get.ts';
import { jobList } from './jobs/list.ts';
import { musicCreate } from './jobs/music-create.ts';
import { musicDocs } from './jobs/music-docs.ts';
import { musicModels } from './jobs/music-models.ts';
import { musicStream } from './jobs/music-stream.ts';
import { jobRemove } from './jobs/remove.ts';
import { videosCreate } from './jobs/videos-create.ts';
import { videoDocs } from './jobs/videos-docs.ts';
import { videosModels } from './jobs/videos-models.ts';
import { messagesCountTokens } from './messages/count-tokens.ts';
import { messagesDocs } from './messages/docs.ts';
import { messages } from './messages/messages.ts';
import { modelDocs, serviceDocs } from './models/docs.ts';
import { modelDialect } from './models/model-dialect.ts';
import { modelGet } from './models/model-get.ts';
import { modelsCount } from './models/models-count.ts';
import { modelsGet } from './models/models-get.ts';
import { modelsList } from './models/models-list.ts';
import { responsesDocs } from './responses/docs.ts';
import { responses } from './responses/responses.ts';
import type { Route } from './route.ts';
import { vectorStoreRoutes } from './vector-stores/routes.ts';

export const routes = (ports: Ports): readonly Route[] => {
  const table: readonly Route[] = [
    {
      method: 'GET',
      path: '/models',
      access: 'public',
      bodyLimit: 0,
      errors: modelDialect,
      pipeline: modelsList(ports),
      doc: modelDocs.list,
    },
    {
      method: 'GET',
      path: '/models/count',
      access: 'public',
      bodyLimit: 0,
      errors: modelDialect,
      pipeline: modelsCount(ports),
      doc: modelDocs.count,
    },
    {
      method: 'GET',
      path: '/models/{id+}',
      access: 'key',
      bodyLimit: 0,
      errors: modelDialect,
      pipeline: modelsGet(ports),
      doc: modelDocs.get,
    },
    {
      method: 'GET',
      path: '/model/{author}/{slug+}',
      access: 'public',
      bodyLimit: 0,
      pipeline: modelGet(ports),
      doc: modelDocs.bySlug,
    },
    {
      method: 'GET',
      path: '/embeddings/models',
      access: 'public',
      bodyLimit: 0,
      pipeline: embeddingModels(ports),
      doc: modelDocs.embedding,
    },
    {
      method: 'POST',
      path: '/chat/completions',
      access: 'key',
      // Images, sound and documents come as base64.
      bodyLimit: 128 * 1024 * 1024,
      pipeline: chatCompletions(ports),
      doc: chatDocs.completions,
    },
    {
      method: 'POST',
      path: '/messages',
      access: 'key',
      // Images come as base64.
      bodyLimit: 128 * 1024 * 1024,
      errors: 'messages',
      pipeline: messages(ports),
      doc: messagesDocs.create,
    },
    {
      method: 'POST',
      path: '/messages/count_tokens',
      access: 'key',
      bodyLimit: 128 * 1024 * 1024,
      errors: 'messages',
      pipeline: messagesCountTokens(ports),
      doc: messagesDocs.countTokens,
    },
    {
      method: 'POST',
      path: '/responses',
      access: 'key',
      // Images, sound and documents come as base64.
      bodyLimit: 128 * 1024 * 1024,
      pipeline: responses(ports),
      doc: responsesDocs.create,
    },
    {
      method: 'POST',
      path: '/embeddings',
      access: 'key',
      bodyLimit: 16 * 1024 * 1024,
      pipeline: embeddings(ports),
      doc: embeddingDocs.create,
    },
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
    {
      method: 'POST',
      path: '/systemone',
      access: 'key',
      bodyLimit: 16 * 1024 * 1024,
      pipeline: systemOne(ports),
      doc: decisionDocs.decide,
    },
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
      method: 'POST',
      path: '/audio/speech',
      access: 'key',
      // A clip comes as base64.
      bodyLimit: 40 * 1024 * 1024,
      pipeline: audioSpeech(ports),
      doc: audioDocs.speech,
    },
    {
      method: 'POST',
      path: '/audio/transcriptions',
      access: 'key',
      // Room for a recording as base64, and for one that is too large to be told so.
      bodyLimit: 48 * 1024 * 1024,
      pipeline: audioTranscriptions(ports),
      doc: audioDocs.transcriptions,
    },
    {
      method: 'GET',
      path: '/audio/voices',
      access: 'key',
      bodyLimit: 0,
      pipeline: audioVoices(ports),
      doc: audioDocs.voices,
    },
    ...vectorStoreRoutes(ports),
    {
      method: 'GET',
      path: '/usage',
      access: 'key',
      bodyLimit: 0,
      pipeline: usage(ports),
      doc: usageDocs.usage,
    },
    {
      method: 'GET',
      path: '/blobs/{name+}',
      access: 'public',
      bodyLimit: 0,
      pipeline: blobLink(ports),
      doc: blobDocs.link,
    },
    {
      method: 'GET',
      path: '/webhooks/secret',
      access: 'key',
      bodyLimit: 0,
      pipeline: webhooksSecret(ports),
      doc: webhookDocs.secret,
    },
    {
      method: 'POST',
      path: '/webhooks/secret/rotate',
      access: 'key',
      bodyLimit: 0,
      pipeline: webhooksSecretRotate(ports),
      doc: webhookDocs.rotate,
    },
    {
      method: 'GET',
      path: '/health',
      access: 'key',
      bodyLimit: 0,
      pipeline: health(ports),
      doc: serviceDocs.health,
    },
    {
      method: 'GET',
      path: '/openapi.json',
      access: 'public',
      bodyLimit: 0,
      pipeline: openapi(ports, () => table),
      doc: serviceDocs.openapi,
    },
  ];
  return table;
};
