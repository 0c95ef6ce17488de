/** A draft of a chat call in; the same out, with the items of a vector store that fit its last question put before the conversation. 400 429 502 503. */
import { defer, map, type Observable, type OperatorFunction, of, switchMap } from 'rxjs';
import type { ChatMessage } from '../../src/ports/chat.ts';
import type { Offload } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { FoundItem } from '../../src/ports/vector-stores.ts';
import { fitsBytes, promptTexts } from '../../src/tokens/prompt.ts';
import type { ChatFraming } from '../chat/read-request.ts';
import type { ChatDraft } from '../conversation/chat-task.ts';
import { countPrompt } from '../conversation/fit-context.ts';
import { contextQuery } from './context-query.ts';
import { embedQuery, type QueryPorts } from './embed-query.ts';
import type { Errand } from './embed-texts.ts';
import { fenceItems } from './fence-items.ts';
import { resultJson } from './shapes.ts';

/** Items looked at, and how near they must be at all. */
const maxItems = 20;
const leastSimilarity = 0.1;
/** Tokens of all items together: at most so many, … */
const mostTokens = 4096;
/** … and this part of what the model reads. */
const share = 4;
/** Of a model whose row does not say. */
const usualWindow = 32_768;
/** Kept free around the items for the words that fence them. */
const fenceTokens = 256;

export const addContext = (
  ports: QueryPorts & Pick<Ports, 'vectorStores'>,
  errand: Errand,
  store: string,
): OperatorFunction<ChatDraft<ChatFraming>, ChatDraft<ChatFraming>> =>
  switchMap((draft) =>
    found(ports, errand, store, contextQuery(draft.call.messages)).pipe(
      switchMap((items) =>
        roomFor(ports.offload, draft).pipe(map((room) => withContext(draft, fitting(items, room)))),
      ),
    ),
  );

/** Embedding the question is billed by itself, under a name that is not the answer's. */
const found = (
  ports: QueryPorts & Pick<Ports, 'vectorStores'>,
  errand: Errand,
  id: string,
  query: string,
): Observable<readonly FoundItem[]> => {
  const { exchange, caller } = errand;
  const { log, backpressure, trace } = exchange;
  const own = { id: `${exchange.id}_query`, log, backpressure, trace };
  return defer(() => ports.vectorStores.get(caller.subscription, id, 'collection')).pipe(
    switchMap((store) =>
      query === ''
        ? of([])
        : embedQuery(ports, { ...errand, exchange: own }, store, [query]).pipe(
            switchMap((vectors) =>
              ports.vectorStores.search(store, vectors, {
                limit: maxItems,
                minimum: leastSimilarity,
              }),
            ),
          ),
    ),
  );
};

/** Tokens that items may take: never so many that the conversation has no room for its answer. */
const roomFor = (offload: Offload, { model, call }: ChatDraft<unknown>): Observable<number> => {
  const window = model.context_length ?? usualWindow;
  const usual = Math.min(mostTokens, Math.floor(window / share));
  if (fitsBytes(promptTexts(call), window / 2)) return of(usual);
  return countPrompt(offload, call, model.tokenizer).pipe(
    map((tokens) => Math.min(usual, Math.floor((window - tokens) / 2) - fenceTokens)),
  );
};

/** Prose has more bytes to a token; what has fewer is counted too low only where the room was halved before. */
const bytesPerToken = 3;

/** The best that fit; a first one that is too long by itself is cut. */
const fitting = (items: readonly FoundItem[], room: number): readonly FoundItem[] => {
  const chosen: FoundItem[] = [];
  let bytes = room * bytesPerToken;
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

const withContext = (draft: ChatDraft<ChatFraming>, items: readonly FoundItem[]): ChatDraft<ChatFraming> => {
  const messages = withSystemText(draft.call.messages, fenceItems(items));
  return {
    ...draft,
    call: { ...draft.call, messages },
    textBytes: undefined,
    framing: { ...draft.framing, extra: `,"context":${JSON.stringify(items.map(resultJson))}` },
  };
};

/** Behind the client's own instructions, where it gave some: many chat templates take one system message, at the start. */
const withSystemText = (messages: readonly ChatMessage[], text: string): readonly ChatMessage[] => {
  const [first, ...rest] = messages;
  if (first?.role !== 'system' && first?.role !== 'developer')
    return [{ role: 'system', content: [{ type: 'text', text }] }, ...messages];
  return [{ ...first, content: [...first.content, { type: 'text', text: `\n\n${text}` }] }, ...rest];
};
