/** Caches the limits of each subscription and model from the State port. */
import type { Logger } from 'pino';
import { type LimitNumbers, tokenKinds } from '../../schemas/limits.ts';
import type { LimitsRecord } from '../../schemas/records.ts';
import { everyRecord, type WatchOptions, watchRecords } from '../helpers/stored-records.ts';
import type { Limits } from '../ports/admission.ts';
import type { State } from '../ports/state.ts';
import { limitsKind } from './manage.ts';

export interface LimitsBook {
  /** `usual` where the subscription has no numbers of its own. */
  of(subscription: string, model: string, usual: Limits): Limits;
  /** Whether any subscription has numbers of its own that count tokens. */
  readonly countsTokens: boolean;
  close(): Promise<void>;
}

export interface LimitsBookOptions extends WatchOptions {
  /** Subscriptions whose own numbers are kept; those made after so many others have no effect. */
  readonly most?: number;
}

interface Own {
  readonly all: LimitNumbers;
  readonly models: ReadonlyMap<string, LimitNumbers>;
  /** Of models that were asked for, with the catalog's numbers that they are combined with. */
  readonly combined: Map<string, { readonly usual: Limits; readonly limits: Limits }>;
}

interface Read {
  readonly book: ReadonlyMap<string, Own>;
  readonly countsTokens: boolean;
}

export const openLimitsBook = async (
  state: State,
  { most = 50_000, ...options }: LimitsBookOptions,
): Promise<LimitsBook> => {
  const watched = await watchRecords(state, limitsKind, () => read(state, most, options.log), options);
  return {
    of: (subscription, model, usual) => {
      const own = watched.current().book.get(subscription);
      return own === undefined ? usual : combined(own, model, usual);
    },
    get countsTokens() {
      return watched.current().countsTokens;
    },
    close: watched.close,
  };
};

/** Models of a subscription whose numbers are remembered; catalogs have fewer. */
const mostCombined = 1000;

/** The same object as long as neither changes. */
const combined = ({ all, models, combined }: Own, model: string, usual: Limits): Limits => {
  const known = combined.get(model);
  if (known?.usual === usual) return known.limits;
  const limits = { ...usual, ...all, ...models.get(model) };
  if (combined.size >= mostCombined) combined.clear();
  combined.set(model, { usual, limits });
  return limits;
};

const read = async (state: State, most: number, log: Logger): Promise<Read> => {
  const book = new Map<string, Own>();
  let countsTokens = false;
  for await (const { id, value } of everyRecord<LimitsRecord>(state, limitsKind)) {
    if (book.size >= most) {
      log.error({ most }, 'too many subscriptions with limits of their own; the rest have no effect');
      break;
    }
    book.set(id, own(value));
    countsTokens ||= [value.all, ...Object.values(value.models)].some(hasTokens);
  }
  return { book, countsTokens };
};

const hasTokens = (numbers: LimitNumbers): boolean => tokenKinds.some((kind) => numbers[kind] !== undefined);

const own = ({ all, models }: LimitsRecord): Own => ({
  all,
  models: new Map(Object.entries(models)),
  combined: new Map(),
});
