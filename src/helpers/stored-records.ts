/** Lists all records of a kind, makes their changes known, and keeps what was read of them up to date. */
import type { Logger } from 'pino';
import type { State, StoredRecord } from '../ports/state.ts';

export async function* everyRecord<T>(
  state: State,
  kind: string,
  owner?: string,
): AsyncGenerator<StoredRecord<T>> {
  const limit = 500;
  let after: string | undefined;
  for (;;) {
    const page = await state.list<T>(kind, {
      limit,
      order: 'asc',
      ...(owner === undefined ? {} : { owner }),
      ...(after === undefined ? {} : { after }),
    });
    yield* page;
    after = page.at(-1)?.id;
    if (page.length < limit) return;
  }
}

const noticeId = 'latest';

/** Changes a record of kind `<kind>-notice`: who looks at it need not look at all records. */
export const notice = async (state: State, kind: string): Promise<void> => {
  const noticeKind = `${kind}-notice`;
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await state.create(noticeKind, { id: noticeId, owner: '', value: null })) return;
    const latest = await state.get(noticeKind, noticeId);
    if (latest !== undefined && (await state.update(noticeKind, noticeId, latest.version, { value: null })))
      return;
  }
};

/** How many changes there have been; 0: none. */
export const noticeOf = async (state: State, kind: string): Promise<number> =>
  (await state.get(`${kind}-notice`, noticeId))?.version ?? 0;

export interface WatchOptions {
  readonly log: Logger;
  /** Milliseconds between two looks for changes. */
  readonly refreshMs?: number;
}

export interface Watched<T> {
  /** As it was last read. */
  current(): T;
  close(): Promise<void>;
}

/** Looks after which all is read even without a notice: one may have got lost with the process that made the change. */
const looksUntilReading = 30;

/** Reads now, and again after changes of records of this kind. While that fails, what was read last stays. */
export const watchRecords = async <T>(
  state: State,
  kind: string,
  read: () => Promise<T>,
  { log, refreshMs = 2000 }: WatchOptions,
): Promise<Watched<T>> => {
  let seen = await noticeOf(state, kind);
  let current = await read();
  let looks = 0;
  let failing = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  /** The notice is read before the records: a change in between is seen next time. */
  const look = async (): Promise<void> => {
    const version = await noticeOf(state, kind);
    if (version === seen && ++looks % looksUntilReading !== 0) return;
    current = await read();
    seen = version;
  };

  const refresh = async (): Promise<void> => {
    try {
      await look();
      if (failing) log.info(`${kind} recovered`);
      failing = false;
    } catch (error) {
      if (closed) return;
      if (!failing) log.warn({ err: error }, `${kind} read failed; the cached ones stay`);
      failing = true;
    }
  };

  const lookAgain = (): void => {
    // Not all replicas at once.
    timer = setTimeout(
      () => void refresh().finally(() => closed || lookAgain()),
      refreshMs * (0.75 + Math.random() / 4),
    );
    timer.unref();
  };

  lookAgain();
  return {
    current: () => current,
    close: async () => {
      closed = true;
      clearTimeout(timer);
    },
  };
};
