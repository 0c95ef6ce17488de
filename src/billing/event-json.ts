/** A usage event in, its JSON out: one for every request, at half of the cost of `JSON.stringify`. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { quoted } from '../quoted.ts';
import { remembered } from '../remembered.ts';

type Quantities = UsageEvent['quantities'];

/** What most events say alike stands here in one piece: a text costs by the pieces it is made of. */
export const eventJson = (event: UsageEvent): string =>
  // Ids are our own: there is nothing in them to escape.
  `{"schema":1,"id":"${event.id}","time":${event.time},"request_id":"${event.request_id}` +
  `${originJson(event)}${event.quantities.prompt_tokens}${tokensJson(event)}` +
  `${priceJson(event.price)}${event.cost}","queued_ms":${event.queued_ms},` +
  `"first_token_ms":${event.first_token_ms},"total_ms":${event.total_ms}}`;

interface Origin
  extends Pick<UsageEvent, 'subscription' | 'route' | 'model' | 'engine' | 'outcome' | 'status'> {
  readonly json: string;
}

/** Whose each key's latest event was, what it was for and how it ended: mostly the same as of its next. */
const origins = new Map<string, Origin>();
const mostOrigins = 1000;

/** From the end of the request's id to the first of the quantities. */
const originJson = (event: UsageEvent): string => {
  const known = origins.get(event.key);
  if (known !== undefined && isOf(known, event)) return known.json;
  if (origins.size >= mostOrigins) origins.clear();
  const { subscription, key, route, model, engine, outcome, status } = event;
  const json = inOnePiece(
    `","subscription":${quoted(subscription)},"key":${quoted(key)},"route":${quoted(route)},`,
    `"model":${quoted(model)},"engine":${quoted(engine)},"outcome":"${outcome}","status":${status},`,
    '"quantities":{"prompt_tokens":',
  );
  origins.set(key, { subscription, route, model, engine, outcome, status, json });
  return json;
};

const isOf = (one: Omit<Origin, 'json'>, other: Omit<Origin, 'json'>): boolean =>
  one.model === other.model &&
  one.route === other.route &&
  one.engine === other.engine &&
  one.outcome === other.outcome &&
  one.status === other.status &&
  one.subscription === other.subscription;

/** Behind the tokens of the prompt; most answers come from no cache, think of nothing and arrive whole. */
const tokensJson = (event: UsageEvent): string => {
  const { quantities, generated_tokens, delivered_tokens } = event;
  const { completion_tokens } = quantities;
  return delivered_tokens === completion_tokens &&
    generated_tokens === completion_tokens &&
    quantities.cached_tokens === 0 &&
    quantities.reasoning_tokens === 0 &&
    !isMeasured(quantities)
    ? usualTokensJson(completion_tokens)
    : anyTokensJson(event);
};

const isMeasured = ({ megapixels, seconds, inputs }: Quantities): boolean =>
  megapixels !== undefined || seconds !== undefined || inputs !== undefined;

const mostCounts = 1000;
const usualTokensJson = remembered(mostCounts, (count: number) =>
  inOnePiece(
    `,"completion_tokens":${count},"cached_tokens":0,"reasoning_tokens":0},`,
    `"generated_tokens":${count},"delivered_tokens":${count}`,
  ),
);

const anyTokensJson = ({ quantities, generated_tokens, delivered_tokens }: UsageEvent): string => {
  const { completion_tokens, cached_tokens, reasoning_tokens, megapixels, seconds, inputs } = quantities;
  let json = `,"completion_tokens":${completion_tokens},"cached_tokens":${cached_tokens}`;
  json += `,"reasoning_tokens":${reasoning_tokens}`;
  if (megapixels !== undefined) json += `,"megapixels":"${megapixels}"`;
  if (seconds !== undefined) json += `,"seconds":"${seconds}"`;
  if (inputs !== undefined) json += `,"inputs":${inputs}`;
  return `${json}},"generated_tokens":${generated_tokens},"delivered_tokens":${delivered_tokens}`;
};

/** A model's prices are the same object in all its events. */
const prices = new WeakMap<UsageEvent['price'], string>();

const priceJson = (price: UsageEvent['price']): string => {
  const known = prices.get(price);
  if (known !== undefined) return known;
  const json = inOnePiece(',"price":', JSON.stringify(price), ',"cost":"');
  prices.set(price, json);
  return json;
};

const inOnePiece = (...pieces: readonly string[]): string => pieces.join('');
