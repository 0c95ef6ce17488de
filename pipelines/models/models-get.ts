/** GET /models/{id}: an id as the list shows it in; that one model out, in the messages format where its header is sent. */
import { defer, of } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { entryText, messagesModel } from '../../src/catalog/entry.ts';
import { withoutAlias } from '../../src/catalog/model-names.ts';
import { fail } from '../../src/errors.ts';
import { jsonReply, jsonTextReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';

export const modelsGet =
  (ports: Ports): KeyedPipeline =>
  (exchange) =>
    defer(() => {
      const id = exchange.params.id ?? '';
      const messages = exchange.dialect === 'messages';
      const model = find(ports, id); // 502 503
      if (model === undefined || (messages && !isListedChat(model)))
        throw fail('not_found', `No model named "${id.slice(0, 200)}"`);
      return of(messages ? jsonReply(messagesModel(model, id)) : jsonTextReply(entryText(model)));
    });

/** Nothing is shown while the list would not be. */
const find = ({ catalog }: Ports, id: string): Model | undefined => {
  catalog.list();
  return catalog.find(id) ?? catalog.find(withoutAlias(id));
};

const isListedChat = (model: Model): boolean => model.kind === 'chat' && !model.private;
