/** GET /audio/voices: the voices of one speech model, or of all of them. */
import type { Model } from '../../schemas/catalog.ts';
import { voicesOf } from '../../src/catalog/entry.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import {
  type Exchange,
  jsonReply,
  type KeyedPipeline,
  type KeyedRequest,
  type Reply,
} from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';

export const audioVoices = (ports: Ports): KeyedPipeline =>
  compose(
    chooseModels(ports.catalog), // 404 502 503
    replyVoices,
  );

const chooseModels =
  (catalog: Catalog) =>
  ({ query }: Exchange, { caller: { scope } }: KeyedRequest): readonly Model[] => {
    const id = new URLSearchParams(query).get('model');
    return id === null || id === ''
      ? catalog.list().filter(({ kind, id }) => kind === 'speech' && scope?.allowsModel(id) !== false)
      : [catalog.resolve(id, 'speech', undefined, scope).model];
  };

const replyVoices = (models: readonly Model[]): Reply =>
  jsonReply({ object: 'list', data: models.flatMap(voiceEntries) });

const voiceEntries = (model: Model) =>
  voicesOf(model).map(({ id, kind }) => ({
    id,
    object: 'audio.voice',
    name: id.charAt(0).toUpperCase() + id.slice(1),
    model: model.id,
    language: null,
    description: null,
    kind,
  }));
