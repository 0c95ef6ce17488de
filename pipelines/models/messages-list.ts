/** GET /models in the messages format: its chat models, paged by their ids. */
import type { MessagesModel } from '../../schemas/model-entry.ts';
import { messagesModel } from '../../src/catalog/entry.ts';
import { aliasPrefix } from '../../src/catalog/model-names.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import { type Exchange, jsonReply, type Pipeline, type WholeReply } from '../../src/ports/exchange.ts';
import { invalid } from '../core/checks.ts';
import { compose } from '../core/compose.ts';
import { readLimit } from '../core/page.ts';

export const messagesModelsList = (catalog: Catalog): Pipeline =>
  compose(
    readMessagesPage, // 400 limit
    replyPage(catalog), // 400 cursor, 502 503
  );

interface MessagesPage {
  readonly query: URLSearchParams;
  readonly limit: number;
}

/** The vendor's own default page. */
const usualLimit = 20;

const readMessagesPage = ({ query: text }: Exchange): MessagesPage => {
  const query = new URLSearchParams(text);
  return { query, limit: readLimit(query, usualLimit, 1000) };
};

const replyPage =
  (catalog: Catalog) =>
  (page: MessagesPage): WholeReply => {
    const models = messagesModels(catalog);
    const { start, end } = window(models, page);
    const data = models.slice(start, end);
    return jsonReply({
      data,
      has_more: page.query.has('before_id') ? start > 0 : end < models.length,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    });
  };

/** Each chat model by its own id and by the one under the prefix that some clients insist on. */
const messagesModels = (catalog: Catalog): readonly MessagesModel[] =>
  catalog
    .list()
    .filter((model) => model.kind === 'chat')
    .flatMap((model) => [messagesModel(model, model.id), messagesModel(model, aliasPrefix + model.id)]);

const window = (
  models: readonly MessagesModel[],
  { query, limit }: MessagesPage,
): { start: number; end: number } => {
  if (query.has('after_id') && query.has('before_id'))
    throw invalid('after_id and before_id cannot be sent together');
  if (query.has('before_id')) {
    const end = cursor(models, query, 'before_id');
    return { start: Math.max(0, end - limit), end };
  }
  const start = query.has('after_id') ? cursor(models, query, 'after_id') + 1 : 0;
  return { start, end: Math.min(models.length, start + limit) };
};

const cursor = (models: readonly MessagesModel[], query: URLSearchParams, name: string): number => {
  const position = models.findIndex((model) => model.id === query.get(name));
  if (position < 0) throw invalid(`${name} must be the id of a model of this list`);
  return position;
};
