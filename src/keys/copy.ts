/** A copy of keys and subscriptions in a file, from which a store that lost its data is restored. */
import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { KeyRecord, SubscriptionRecord } from '../../schemas/records.ts';
import { everyRecord } from '../helpers/stored-records.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import { noticeOf, setStatus } from './records.ts';

interface KeyCopyOptions {
  readonly state: State;
  /** Readable by its owner only; it has hashes of keys, no secrets. */
  readonly file: string;
  readonly log: Logger;
  /** Other kinds of records that are copied, and restored to a store that is empty. */
  readonly otherKinds?: readonly string[];
  /** Milliseconds between looks for changes. */
  readonly lookMs?: number;
}

export interface KeyCopy {
  /** Looks now: restores the store if it lost its data, else brings the copy up to date. */
  look(): Promise<void>;
  /** Times that records were restored. */
  restores(): number;
  close(): Promise<void>;
}

interface Header {
  readonly format: 1;
  readonly installation: string;
  /** Of the notice of key changes when the copy was begun. */
  readonly version: number;
  readonly time: string;
}

type CopiedRecord = Pick<StoredRecord<unknown>, 'id' | 'owner' | 'value'> & { readonly kind: string };

/** A record that every store has: where it is missing, everything is. */
const installationKind = 'installation';
const installationId = 'this';

/** Looks after which all is copied even without a notice: one may have got lost with the process that made a change. */
const looksUntilCopying = 300;

export const openKeyCopy = (options: KeyCopyOptions): KeyCopy => {
  const { state, file, log, otherKinds = [], lookMs = 1_000 } = options;
  const kinds = ['subscription', 'key', ...otherKinds];
  /** What the file says, as far as it is known. */
  let copied: Header | undefined;
  let looks = 0;
  let restores = 0;
  let failing = false;
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const lookOnce = async (): Promise<void> => {
    const installation = await installed();
    const version = await noticeOf(state);
    copied ??= (await readHeader(file, log))?.header;
    if (copied !== undefined) {
      if (installation === undefined) return restore(kinds, copied);
      if (installation !== copied.installation) await setApart(copied);
      // Changes are only ever counted up: the store has been set back to an earlier state.
      else if (version < copied.version) return restore(['subscription', 'key'], copied);
    }
    if (copied === undefined || version !== copied.version || ++looks % looksUntilCopying === 0)
      await copy(installation ?? (await install(newInstallation())), version);
  };

  const installed = async (): Promise<string | undefined> =>
    (await state.get<{ id: string }>(installationKind, installationId))?.value.id;

  /** Another replica may have been faster; then its id holds. */
  const install = async (id: string): Promise<string> => {
    await state.create(installationKind, { id: installationId, owner: 'installation', value: { id } });
    return (await installed()) ?? id;
  };

  const copy = async (installation: string, version: number): Promise<void> => {
    const header: Header = { format: 1, installation, version, time: new Date().toISOString() };
    const fresh = `${file}.${randomBytes(4).toString('hex')}`;
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.write(`${JSON.stringify(header)}\n`);
      for (const kind of kinds)
        for await (const { id, owner, value } of everyRecord(state, kind))
          await handle.write(`${JSON.stringify({ kind, id, owner, value } satisfies CopiedRecord)}\n`);
      await handle.sync();
      // What vanished meanwhile would be missing in the copy as well: the next look restores it.
      if ((await installed()) !== installation || (await noticeOf(state)) < version)
        throw new Error('the store lost data while it was copied');
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
    copied = header;
  };

  /**
   * Records that are missing are created; those that are there are at most closed: a revoked key stays revoked,
   * whichever replica restores first. Afterwards the store is copied again.
   */
  const restore = async (restored: readonly string[], { installation, time }: Header): Promise<void> => {
    const read = await readHeader(file, log);
    if (read === undefined) {
      copied = undefined;
      return;
    }
    let created = 0;
    let closedAgain = 0;
    for (const { kind, id, owner, value } of read.records) {
      if (!restored.includes(kind)) continue;
      if (await state.create(kind, { id, owner, value })) created++;
      else if (await closeAgain(kind, id, value)) closedAgain++;
    }
    const id = await install(installation);
    restores++;
    log.error(
      { created, closed: closedAgain, copiedAt: time },
      'the store lost data: keys restored from the copy',
    );
    await copy(id, await noticeOf(state));
  };

  const closeAgain = async (kind: string, id: string, value: unknown): Promise<boolean> => {
    if (kind !== 'key' && kind !== 'subscription') return false;
    if ((value as KeyRecord | SubscriptionRecord).status !== 'closed') return false;
    const found = await state.get<KeyRecord | SubscriptionRecord>(kind, id);
    if (found === undefined || found.value.status === 'closed') return false;
    await setStatus(state, kind, id, 'closed');
    return true;
  };

  /** The copy of another store is never restored into this one. */
  const setApart = async ({ installation }: Header): Promise<void> => {
    const kept = `${file}.${installation}`;
    await rename(file, kept);
    copied = undefined;
    log.warn({ file: kept }, 'the copy of keys was of another store and is set apart');
  };

  /** One at a time: whoever asks meanwhile shares it. */
  const look = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  const lookAgain = (): void => {
    // Not all replicas at once.
    timer = setTimeout(
      () =>
        void look()
          .then(
            () => {
              failing = false;
            },
            (error: unknown) => {
              // An outage of the store is reported elsewhere; a copy that cannot be written is not.
              if (!failing) log.warn({ err: error }, 'keys cannot be copied at the moment');
              failing = true;
            },
          )
          .finally(() => closed || lookAgain()),
      lookMs * (0.75 + Math.random() / 4),
    ).unref();
  };
  lookAgain();

  return {
    look,
    restores: () => restores,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await looking?.catch(() => undefined);
    },
  };
};

const newInstallation = (): string => randomBytes(12).toString('hex');

/** Undefined when there is no copy, or none that can be used: that is logged, and the next copy takes its place. */
const readHeader = async (
  file: string,
  log: Logger,
): Promise<{ readonly header: Header; readonly records: readonly CopiedRecord[] } | undefined> => {
  try {
    const [first = '', ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const header = JSON.parse(first) as Header;
    if (header.format !== 1 || typeof header.installation !== 'string' || !Number.isInteger(header.version))
      throw new Error('it has another format');
    return { header, records: lines.map((line) => JSON.parse(line) as CopiedRecord) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.error({ err: error, file }, 'the copy of keys cannot be read');
    return undefined;
  }
};
