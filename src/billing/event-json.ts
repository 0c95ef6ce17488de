/** Writes a usage event as JSON in half the time of `JSON.stringify`. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { quoted } from '../helpers/quoted.ts';

/** Ids, outcomes and decimals need no escapes. */
export const eventJson = (event: UsageEvent): string => {
  const { quantities } = event;
  const { megapixels, seconds, inputs } = quantities;
  let measures = '';
  if (megapixels !== undefined) measures += `,"megapixels":"${megapixels}"`;
  if (seconds !== undefined) measures += `,"seconds":"${seconds}"`;
  if (inputs !== undefined) measures += `,"inputs":${inputs}`;
  return (
    `{"schema":1,"id":"${event.id}","time":${event.time},"request_id":"${event.request_id}",` +
    `${originJson(event)}${quantities.prompt_tokens},"completion_tokens":${quantities.completion_tokens},` +
    `"cached_tokens":${quantities.cached_tokens},"reasoning_tokens":${quantities.reasoning_tokens}${measures}},` +
    `"generated_tokens":${event.generated_tokens},"delivered_tokens":${event.delivered_tokens},` +
    `"price":${priceJson(event.price)},"cost":"${event.cost}","queued_ms":${event.queued_ms},` +
    `"first_token_ms":${event.first_token_ms},"total_ms":${event.total_ms}}`
  );
};

interface Origin
  extends Pick<
    UsageEvent,
    'subscription' | 'route' | 'model' | 'requested_model' | 'engine' | 'outcome' | 'status'
  > {
  readonly json: string;
}

/** By key: its next event mostly has the same origin. Half of the time goes into this part. */
const origins = new Map<string, Origin>();
const mostOrigins = 1000;

const originJson = (event: UsageEvent): string => {
  const { subscription, key, route, model, requested_model, engine, outcome, status } = event;
  const known = origins.get(key);
  if (
    known?.model === model &&
    known.requested_model === requested_model &&
    known.route === route &&
    known.engine === engine &&
    known.outcome === outcome &&
    known.status === status &&
    known.subscription === subscription
  )
    return known.json;
  if (origins.size >= mostOrigins) origins.clear();
  // Joined: a flat string is copied faster than a concatenated one.
  const json = [
    `"subscription":${quoted(subscription)},"key":${quoted(key)},"route":${quoted(route)},`,
    `"model":${quoted(model)},${requested_model === undefined ? '' : `"requested_model":${quoted(requested_model)},`}`,
    `"engine":${quoted(engine)},"outcome":"${outcome}","status":${status},`,
    '"quantities":{"prompt_tokens":',
  ].join('');
  const requested = requested_model === undefined ? {} : { requested_model };
  origins.set(key, { subscription, route, model, ...requested, engine, outcome, status, json });
  return json;
};

/** All events of a model share one price object. */
const prices = new WeakMap<UsageEvent['price'], string>();

const priceJson = (price: UsageEvent['price']): string => {
  let json = prices.get(price);
  if (json === undefined) {
    json = JSON.stringify(price);
    prices.set(price, json);
  }
  return json;
};
