/** GET /audio/voices: a model in; the voices it speaks with out. Without one, those of every speech model. */
import { defer, of } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { voicesOf } from '../../src/catalog/entry.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';

export const audioVoices =
  (ports: Ports): KeyedPipeline =>
  (exchange) =>
    defer(() => {
      const id = new URLSearchParams(exchange.query).get('model');
      const models =
        id === null || id === ''
          ? ports.catalog.list().filter(({ kind }) => kind === 'speech') // 502 503
          : [ports.catalog.resolve(id, 'speech').model]; // 404
      return of(jsonReply({ object: 'list', data: models.flatMap(voiceEntries) }));
    });

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
