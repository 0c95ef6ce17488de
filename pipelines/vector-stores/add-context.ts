/** Adds the items of a vector store that are nearest to a conversation to its prompt. */
import { from, map, type Observable, of } from 'rxjs';
import type { ChatMessage } from '../../src/ports/engines/chat.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Shared } from '../../src/ports/shared.ts';
import type { FoundItem } from '../../src/ports/vector-stores.ts';
import { fitsBytes, promptTexts } from '../../src/tokens/prompt.ts';
import type { ChatFraming } from '../chat/read-request.ts';
import type { ChatDraft } from '../conversation/chat-task.ts';
import { countPrompt } from '../conversation/fit-context.ts';
import { type Composed, compose } from '../core/compose.ts';
import type { Step } from '../core/stage.ts';
import { type EmbedRequest, embedAs, type QueryPorts, type ToEmbed, type WithVectors } from './embed.ts';
import { contextQuery, fenceItems } from './rag-prompt.ts';
import { resultJson } from './shapes.ts';
import type { InStore } from './stores.ts';

/** Items looked at, and how near they must be at all. */
const maxItems = 20;
const leastSimilarity = 0.1;
/** Tokens of all items together: at most so many, … */
const mostTokens = 4096;
/** … and this part of what the model reads. */
const share = 4;
/** Of a model whose row has no context length. */
const usualWindow = 32_768;
/** Kept free around the items for the text that fences them. */
const fenceTokens = 256;

type Draft = ChatDraft<ChatFraming>;
type StorePorts = Pick<Ports, 'vectorStores'>;

/** A draft of a chat call, and the vector store to search. */
export interface RagDraft extends Draft, InStore {}

interface Question extends ToEmbed {
  readonly draft: Draft;
}

interface Found {
  readonly draft: Draft;
  readonly items: readonly FoundItem[];
}

export const addContext = (
  ports: QueryPorts & StorePorts,
  route: string,
): Composed<RagDraft, Draft, KeyedRequest> =>
  compose(
    readQuestion,
    findItems(ports, route), // 429, and 502 503 when the question cannot be embedded
    insertItems(ports.offload),
  );

/** The text of documents that were loaded is part of the question. */
const readQuestion = ({ store, ...draft }: RagDraft): Question => {
  const query = contextQuery(draft.call.messages);
  return { draft, store, texts: query === '' ? [] : [query] };
};

const findItems = (ports: QueryPorts & StorePorts, route: string): Step<Question, Found, KeyedRequest> => {
  const find = embedAs('search_query', ports, route, searchItems(ports));
  return (question, request) =>
    question.texts.length === 0
      ? { draft: question.draft, items: [] }
      : find(question, embedRequest(request));
};

/** Embedding the question is billed by itself, under an id that is not that of the completion. */
const embedRequest = ({ exchange, caller }: KeyedRequest): EmbedRequest => {
  const { id, log, backpressure, trace } = exchange;
  return { exchange: { id: `${id}_query`, log, backpressure, trace }, caller };
};

const searchItems =
  ({ vectorStores }: StorePorts) =>
  ({ draft, store, vectors }: WithVectors<Question>): Observable<Found> =>
    from(vectorStores.search(store, vectors, { limit: maxItems, minimum: leastSimilarity })).pipe(
      map((items) => ({ draft, items })),
    );

const insertItems =
  (offload: Shared<Offload>) =>
  ({ draft, items }: Found, { caller }: KeyedRequest): Observable<Draft> =>
    tokenBudget(offload.for(caller.subscription), draft).pipe(
      map((budget) => withContext(draft, fitting(items, budget))),
    );

/** Tokens that items may take: the conversation keeps enough for its completion. */
const tokenBudget = (offload: Offload, { model, call }: ChatDraft<unknown>): Observable<number> => {
  const window = model.context_length ?? usualWindow;
  const usual = Math.min(mostTokens, Math.floor(window / share));
  if (fitsBytes(promptTexts(call), window / 2)) return of(usual);
  return countPrompt(offload, call, model.tokenizer).pipe(
    map((tokens) => Math.min(usual, Math.floor((window - tokens) / 2) - fenceTokens)),
  );
};

/** Prose has more; text with fewer is underestimated, which the halved budget allows for. */
const bytesPerToken = 3;

/** The best that fit; a first one that is too long by itself is cut. */
const fitting = (items: readonly FoundItem[], budget: number): readonly FoundItem[] => {
  const chosen: FoundItem[] = [];
  let bytes = budget * bytesPerToken;
  for (const item of items) {
    const size = Buffer.byteLength(item.text) + Buffer.byteLength(item.description);
    if (size <= bytes) chosen.push(item);
    else if (chosen.length === 0 && bytes > 0)
      chosen.push({ ...item, text: item.text.slice(0, Math.floor(bytes / bytesPerToken)) });
    else break;
    bytes -= size;
  }
  return chosen;
};

const withContext = (draft: Draft, items: readonly FoundItem[]): Draft => {
  const messages = withSystemText(draft.call.messages, fenceItems(items));
  return {
    ...draft,
    call: { ...draft.call, messages },
    textBytes: undefined,
    framing: { ...draft.framing, extra: `,"context":${JSON.stringify(items.map(resultJson))}` },
  };
};

/** After the client's own instructions, if any: many chat templates accept one system message, at the start. */
const withSystemText = (messages: readonly ChatMessage[], text: string): readonly ChatMessage[] => {
  const [first, ...rest] = messages;
  if (first?.role !== 'system' && first?.role !== 'developer')
    return [{ role: 'system', content: [{ type: 'text', text }] }, ...messages];
  return [{ ...first, content: [...first.content, { type: 'text', text: `\n\n${text}` }] }, ...rest];
};
