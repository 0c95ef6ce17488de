/** Caches the limits of each subscription and model from the State port. */
import type { Logger } from 'pino';
import type { LimitNumbers } from '../../schemas/limits.ts';
import type { LimitsRecord } from '../../schemas/records.ts';
import type { Limits } from '../ports/admission.ts';
import type { State } from '../ports/state.ts';
import { everyLimit, noticeId, noticeKind } from './manage.ts';

export interface LimitsBook {
  /** `usual` where the subscription has no numbers of its own. */
  of(subscription: string, model: string, usual: Limits): Limits;
  close(): Promise<void>;
}

export interface LimitsBookOptions {
  readonly log: Logger;
  /** Milliseconds between two looks for changes. */
  readonly refreshMs?: number;
  /** Subscriptions whose own numbers are kept; those made after so many others have no effect. */
  readonly most?: number;
}

interface Own {
  readonly all: LimitNumbers;
  readonly models: ReadonlyMap<string, LimitNumbers>;
}

/** Looks after which all is read even without a notice: one may have got lost with the process that made the change. */
const looksUntilReading = 30;

export const openLimitsBook = async (
  state: State,
  { log, refreshMs = 2000, most = 50_000 }: LimitsBookOptions,
): Promise<LimitsBook> => {
  let book: ReadonlyMap<string, Own> = new Map();
  let seen: number | undefined;
  let looks = 0;
  let failing = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  /** The notice is read before the book: a change in between is seen next time. */
  const look = async (): Promise<void> => {
    const version = (await state.get(noticeKind, noticeId))?.version;
    if (version === seen && looks++ % looksUntilReading !== 0) return;
    book = await read(state, most, log);
    seen = version;
  };

  const lookAgain = (): void => {
    // Not all replicas at once.
    timer = setTimeout(
      () => void refresh().finally(() => closed || lookAgain()),
      refreshMs * (0.75 + Math.random() / 4),
    );
    timer.unref();
  };

  const refresh = async (): Promise<void> => {
    try {
      await look();
      if (failing) log.info('limits recovered');
      failing = false;
    } catch (error) {
      if (closed) return;
      if (!failing) log.warn({ err: error }, 'limits read failed; the cached ones stay');
      failing = true;
    }
  };

  await look();
  lookAgain();

  return {
    of: (subscription, model, usual) => {
      const own = book.get(subscription);
      return own === undefined ? usual : combined(own, model, usual);
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
    },
  };
};

const combined = ({ all, models }: Own, model: string, usual: Limits): Limits => ({
  ...usual,
  ...all,
  ...models.get(model),
});

const read = async (state: State, most: number, log: Logger): Promise<ReadonlyMap<string, Own>> => {
  const book = new Map<string, Own>();
  for await (const { id, value } of everyLimit(state)) {
    if (book.size >= most) {
      log.error({ most }, 'too many subscriptions with limits of their own; the rest have no effect');
      break;
    }
    book.set(id, own(value));
  }
  return book;
};

const own = ({ all, models }: LimitsRecord): Own => ({ all, models: new Map(Object.entries(models)) });
