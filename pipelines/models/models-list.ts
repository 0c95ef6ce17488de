/** GET /models: filters and a page in; the model list out, in the messages format where its version header is sent. */
import { defer, type Observable, of } from 'rxjs';
import type { MessagesModel } from '../../schemas/model-entry.ts';
import { messagesModel } from '../../src/catalog/entry.ts';
import { aliasPrefix } from '../../src/catalog/model-names.ts';
import { fail } from '../../src/errors.ts';
import { jsonReply, type Pipeline, type WholeReply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { listAnswer } from './model-list.ts';
import { readFilter, readLimit, readPage } from './model-query.ts';

export const modelsList =
  (ports: Ports): Pipeline =>
  (exchange): Observable<WholeReply> =>
    defer(() => {
      const query = new URLSearchParams(exchange.query);
      if (exchange.dialect === 'messages') return of(messagesList(ports, query)); // 400 limit, cursor
      const filter = readFilter(exchange, query);
      const page = readPage(query); // 400 offset, limit
      return of(listAnswer(ports.catalog.list().filter(filter), { path: '/models', query, page })); // 502 503
    });

/** The vendor's own default page. */
const messagesPage = 20;

const messagesList = (ports: Ports, query: URLSearchParams): WholeReply => {
  const limit = readLimit(query, messagesPage);
  const models = messagesModels(ports);
  const { start, end } = window(models, query, limit);
  const data = models.slice(start, end);
  const hasMore = query.has('before_id') ? start > 0 : end < models.length;
  return jsonReply({
    data,
    has_more: hasMore,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  });
};

/** Each chat model by its own id and by the one under the prefix that some clients insist on. */
const messagesModels = (ports: Ports): readonly MessagesModel[] =>
  ports.catalog
    .list()
    .filter((model) => model.kind === 'chat')
    .flatMap((model) => [messagesModel(model, model.id), messagesModel(model, aliasPrefix + model.id)]);

const window = (
  models: readonly MessagesModel[],
  query: URLSearchParams,
  limit: number,
): { start: number; end: number } => {
  if (query.has('after_id') && query.has('before_id'))
    throw fail('invalid_request', 'after_id and before_id cannot be sent together');
  if (query.has('before_id')) {
    const end = cursor(models, query, 'before_id');
    return { start: Math.max(0, end - limit), end };
  }
  const start = query.has('after_id') ? cursor(models, query, 'after_id') + 1 : 0;
  return { start, end: Math.min(models.length, start + limit) };
};

const cursor = (models: readonly MessagesModel[], query: URLSearchParams, name: string): number => {
  const position = models.findIndex((model) => model.id === query.get(name));
  if (position < 0) throw fail('invalid_request', `${name} must be the id of a model of this list`);
  return position;
};
