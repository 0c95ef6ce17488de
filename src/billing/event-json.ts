/** A usage event in, its JSON out: one for every request, at half of the cost of `JSON.stringify`. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { quoted } from '../quoted.ts';

/** What most events say alike stands here in one piece: a text costs by the pieces it is made of. */
export const eventJson = (event: UsageEvent): string =>
  // Ids are our own: there is nothing in them to escape.
  `{"schema":1,"id":"${event.id}","time":${event.time},"request_id":"${event.request_id}",` +
  `${originOf(event).json}${outcomeJson(event)}${quantitiesJson(event.quantities)},` +
  `"generated_tokens":${event.generated_tokens},"delivered_tokens":${event.delivered_tokens},` +
  `${priceJson(event.price)}${event.cost}${timesJson(event)}${event.total_ms}}`;

const outcomeJson = ({ outcome, status }: UsageEvent): string =>
  outcome === 'completed' && status === 200
    ? '"outcome":"completed","status":200,"quantities":'
    : `"outcome":"${outcome}","status":${status},"quantities":`;

const timesJson = ({ queued_ms, first_token_ms }: UsageEvent): string =>
  queued_ms === 0
    ? `","queued_ms":0,"first_token_ms":${first_token_ms},"total_ms":`
    : `","queued_ms":${queued_ms},"first_token_ms":${first_token_ms},"total_ms":`;

interface Origin extends Pick<UsageEvent, 'subscription' | 'route' | 'model' | 'engine'> {
  readonly json: string;
}

/** Whose each key's latest event was and what it was for: mostly the same as of its next. */
const origins = new Map<string, Origin>();
const mostOrigins = 1000;

const originOf = (event: UsageEvent): Origin => {
  const known = origins.get(event.key);
  if (known !== undefined && isOf(known, event)) return known;
  if (origins.size >= mostOrigins) origins.clear();
  const { subscription, key, route, model, engine } = event;
  const json =
    `"subscription":${quoted(subscription)},"key":${quoted(key)},"route":${quoted(route)},` +
    `"model":${quoted(model)},"engine":${quoted(engine)},`;
  const origin = { subscription, route, model, engine, json };
  origins.set(key, origin);
  return origin;
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

/** With all that is between them and the cost. A model's prices are the same object in all its events. */
const prices = new WeakMap<UsageEvent['price'], string>();

const priceJson = (price: UsageEvent['price']): string => {
  const known = prices.get(price);
  if (known !== undefined) return known;
  const json = `"price":${JSON.stringify(price)},"cost":"`;
  prices.set(price, json);
  return json;
};
