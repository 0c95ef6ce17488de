/** Usage events in; one text out in which what they have in common stands once, a fifth of their JSON; and the way back. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';

type Quantities = UsageEvent['quantities'];

/** Who asked for what, and how it went. */
type Common = Pick<
  UsageEvent,
  'subscription' | 'key' | 'route' | 'model' | 'engine' | 'outcome' | 'status' | 'price'
>;

/** The rarer quantities of an event; 0 when it has none. */
type Measures = 0 | { readonly [Name in 'megapixels' | 'seconds' | 'inputs']: Quantities[Name] | undefined };

/** Column by column: the events' values in the same order in each. */
class Columns {
  /** Times count from here. */
  readonly epoch: number;
  readonly commons: Common[] = [];
  /** Places in `commons`. */
  readonly common: number[] = [];
  readonly id: string[] = [];
  /** A number: that many of the last characters of the event's id. */
  readonly request_id: (string | number)[] = [];
  readonly time: number[] = [];
  readonly prompt_tokens: number[] = [];
  readonly completion_tokens: number[] = [];
  readonly cached_tokens: number[] = [];
  readonly reasoning_tokens: number[] = [];
  readonly measures: Measures[] = [];
  readonly generated_tokens: number[] = [];
  readonly delivered_tokens: number[] = [];
  readonly cost: string[] = [];
  readonly queued_ms: number[] = [];
  readonly first_token_ms: (number | null)[] = [];
  readonly total_ms: number[] = [];
  /** Events that say more than this version knows. */
  readonly whole: UsageEvent[] = [];

  constructor(epoch: number) {
    this.epoch = epoch;
  }
}

const knownFields = 19;
const tokenCounts = 4;

export const pack = (events: readonly UsageEvent[]): string => {
  const columns = new Columns(events[0]?.time ?? 0);
  const commons = new Commons(columns.commons);
  for (const event of events) {
    if (isKnown(event)) add(columns, commons.placeOf(event), event);
    else columns.whole.push(event);
  }
  return JSON.stringify(columns);
};

export const unpack = (text: string): readonly UsageEvent[] => {
  const columns = JSON.parse(text) as Columns | UsageEvent[];
  // So were events kept before.
  if (Array.isArray(columns)) return columns;
  return [...columns.id.map((_, index) => eventAt(columns, index)), ...columns.whole];
};

const isKnown = (event: UsageEvent): boolean => {
  const { quantities } = event;
  const { megapixels, seconds, inputs } = quantities;
  const known =
    tokenCounts +
    Number(megapixels !== undefined) +
    Number(seconds !== undefined) +
    Number(inputs !== undefined);
  return fieldsOf(event) === knownFields && fieldsOf(quantities) === known;
};

const fieldsOf = (value: object): number => {
  let count = 0;
  for (const _ in value) count++;
  return count;
};

const add = (columns: Columns, common: number, event: UsageEvent): void => {
  const { id, request_id, quantities } = event;
  const { megapixels, seconds, inputs } = quantities;
  columns.common.push(common);
  columns.id.push(id);
  columns.request_id.push(id.endsWith(request_id) ? request_id.length : request_id);
  columns.time.push(event.time - columns.epoch);
  columns.prompt_tokens.push(quantities.prompt_tokens);
  columns.completion_tokens.push(quantities.completion_tokens);
  columns.cached_tokens.push(quantities.cached_tokens);
  columns.reasoning_tokens.push(quantities.reasoning_tokens);
  columns.measures.push(
    (megapixels ?? seconds ?? inputs) === undefined ? 0 : { megapixels, seconds, inputs },
  );
  columns.generated_tokens.push(event.generated_tokens);
  columns.delivered_tokens.push(event.delivered_tokens);
  columns.cost.push(event.cost);
  columns.queued_ms.push(event.queued_ms);
  columns.first_token_ms.push(event.first_token_ms);
  columns.total_ms.push(event.total_ms);
};

/** What events have in common, each once. */
class Commons {
  readonly #list: Common[];
  readonly #places = new Map<string, number>();
  #latest: UsageEvent | undefined;
  #latestPlace = 0;

  constructor(list: Common[]) {
    this.#list = list;
  }

  placeOf(event: UsageEvent): number {
    // Events that come together are mostly alike.
    if (this.#latest === undefined || !areAlike(this.#latest, event)) {
      this.#latest = event;
      this.#latestPlace = this.#find(event);
    }
    return this.#latestPlace;
  }

  #find({ subscription, key, route, model, engine, outcome, status, price }: UsageEvent): number {
    const common: Common = { subscription, key, route, model, engine, outcome, status, price };
    const name = JSON.stringify(common);
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const place = this.#list.push(common) - 1;
    this.#places.set(name, place);
    return place;
  }
}

/** A model's prices are the same object in all its events of a process. */
const areAlike = (one: UsageEvent, other: UsageEvent): boolean =>
  one.model === other.model &&
  one.key === other.key &&
  one.route === other.route &&
  one.outcome === other.outcome &&
  one.status === other.status &&
  one.price === other.price &&
  one.engine === other.engine &&
  one.subscription === other.subscription;

const eventAt = (columns: Columns, index: number): UsageEvent => {
  const id = at(columns.id, index);
  const request = at(columns.request_id, index);
  const measures = at(columns.measures, index);
  const { subscription, key, route, model, engine, outcome, status, price } = at(
    columns.commons,
    at(columns.common, index),
  );
  return {
    schema: 1,
    id,
    time: columns.epoch + at(columns.time, index),
    request_id: typeof request === 'number' ? id.slice(id.length - request) : request,
    subscription,
    key,
    route,
    model,
    engine,
    outcome,
    status,
    quantities: {
      prompt_tokens: at(columns.prompt_tokens, index),
      completion_tokens: at(columns.completion_tokens, index),
      cached_tokens: at(columns.cached_tokens, index),
      reasoning_tokens: at(columns.reasoning_tokens, index),
      ...(measures as Partial<Quantities>),
    },
    generated_tokens: at(columns.generated_tokens, index),
    delivered_tokens: at(columns.delivered_tokens, index),
    price,
    cost: at(columns.cost, index),
    queued_ms: at(columns.queued_ms, index),
    first_token_ms: at(columns.first_token_ms, index),
    total_ms: at(columns.total_ms, index),
  };
};

const at = <Value>(column: readonly Value[], index: number): Value => {
  if (index < column.length) return column[index] as Value;
  throw new Error('A block of the ledger is damaged: its columns are not of one length.');
};
