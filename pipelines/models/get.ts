/** GET /models/{id} and /model/{author}/{slug}: one model. */
import type { Model } from '../../schemas/catalog.ts';
import { entryText, messagesModel } from '../../src/catalog/entry.ts';
import { withoutAlias } from '../../src/catalog/model-names.ts';
import { type ApiError, fail } from '../../src/errors.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import {
  type Exchange,
  jsonReply,
  jsonTextReply,
  type KeyedPipeline,
  type KeyedRequest,
  type Pipeline,
  type WholeReply,
} from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';

export const modelsGet = ({ catalog }: Ports): KeyedPipeline =>
  compose(
    findById(catalog), // 404 502 503
    replyModel,
  );

/** A former id gets its replacement's entry at once: a redirect would take two round trips. */
export const modelGet = ({ catalog }: Ports): Pipeline =>
  compose(
    findByName(catalog), // 404 502 503
    (model) => jsonTextReply(`{"data":${entryText(model)}}`),
  );

const findById =
  (catalog: Catalog) =>
  ({ params: { id = '' }, dialect }: Exchange, { caller }: KeyedRequest): Model => {
    // Nothing is shown while the list would not be.
    catalog.list();
    const model = catalog.find(id) ?? catalog.find(withoutAlias(id));
    const hidden = model === undefined || caller.scope?.allowsModel(model.id) === false;
    if (hidden || (dialect === 'messages' && !isListedChat(model))) throw notFound(id);
    return model;
  };

const isListedChat = (model: Model): boolean => model.kind === 'chat' && !model.private;

const replyModel = (model: Model, { exchange: { params, dialect } }: KeyedRequest): WholeReply =>
  dialect === 'messages' ? jsonReply(messagesModel(model, params.id ?? '')) : jsonTextReply(entryText(model));

const findByName =
  (catalog: Catalog) =>
  ({ params: { author = '', slug = '' } }: Exchange): Model => {
    const model = catalog.findPublic(author, slug);
    if (model === undefined) throw notFound(`${author}/${slug}`);
    return model;
  };

const notFound = (name: string): ApiError => fail('not_found', `No model named "${name.slice(0, 200)}"`);
