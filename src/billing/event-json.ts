/** A usage event in, its JSON out: one for every request, at half of the cost of `JSON.stringify`. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { quoted } from '../quoted.ts';

/** What most events say alike stands here in one piece: a text costs by the pieces it is made of. */
export const eventJson = (event: UsageEvent): string =>
  // Ids are our own: there is nothing in them to escape.
  `{"schema":1,"id":"${event.id}","time":${event.time},"request_id":"${event.request_id}",` +
  `${originJson(event)}${outcomeJson(event)}"quantities":${quantitiesJson(event.quantities)},` +
  `"generated_tokens":${event.generated_tokens},"delivered_tokens":${event.delivered_tokens},` +
  `"price":${priceJson(event.price)},"cost":"${event.cost}","queued_ms":${event.queued_ms},` +
  `"first_token_ms":${event.first_token_ms},"total_ms":${event.total_ms}}`;

const outcomeJson = ({ outcome, status }: UsageEvent): string =>
  outcome === 'completed' && status === 200
    ? '"outcome":"completed","status":200,'
    : `"outcome":"${outcome}","status":${status},`;

interface Origin extends Pick<UsageEvent, 'subscription' | 'route' | 'model' | 'engine'> {
  readonly json: string;
}

/** Whose each key's latest event was and what it was for: mostly the same as of its next. */
const origins = new Map<string, Origin>();
const mostOrigins = 1000;

const originJson = (event: UsageEvent): string => {
  const known = origins.get(event.key);
  if (known !== undefined && isOf(known, event)) return known.json;
  if (origins.size >= mostOrigins) origins.clear();
  const { subscription, key, route, model, engine } = event;
  const json =
    `"subscription":${quoted(subscription)},"key":${quoted(key)},"route":${quoted(route)},` +
    `"model":${quoted(model)},"engine":${quoted(engine)},`;
  origins.set(key, { subscription, route, model, engine, json });
  return json;
};

const isOf = (one: Omit<Origin, 'json'>, other: Omit<Origin, 'json'>): boolean =>
  one.model === other.model &&
  one.route === other.route &&
  one.engine === other.engine &&
  one.subscription === other.subscription;

const quantitiesJson = (quantities: UsageEvent['quantities']): string => {
  const { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens } = quantities;
  const { megapixels, seconds, inputs } = quantities;
  let json = `{"prompt_tokens":${prompt_tokens},"completion_tokens":${completion_tokens}`;
  json +=
    cached_tokens === 0 && reasoning_tokens === 0
      ? ',"cached_tokens":0,"reasoning_tokens":0'
      : `,"cached_tokens":${cached_tokens},"reasoning_tokens":${reasoning_tokens}`;
  if (megapixels !== undefined) json += `,"megapixels":"${megapixels}"`;
  if (seconds !== undefined) json += `,"seconds":"${seconds}"`;
  if (inputs !== undefined) json += `,"inputs":${inputs}`;
  return `${json}}`;
};

/** A model's prices are the same object in all its events. */
const prices = new WeakMap<UsageEvent['price'], string>();

const priceJson = (price: UsageEvent['price']): string => {
  const known = prices.get(price);
  if (known !== undefined) return known;
  const json = JSON.stringify(price);
  prices.set(price, json);
  return json;
};
