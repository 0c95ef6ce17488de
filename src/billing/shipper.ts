/** Ships the events of a journal in order; its cursor moves only when they are acknowledged. */
import type { Logger } from 'pino';
import { exponentialBackoff } from '../helpers/backoff.ts';
import type { EventMessage, Events } from '../ports/events.ts';
import { openCursorFile, readCursor } from './journal/cursor.ts';
import type { Damage, Fragment } from './journal/damage.ts';
import { readBatch } from './journal/reader.ts';
import type { Recent } from './journal/recent.ts';
import { type Cursor, isBefore, listSegments, removeSegment, segmentBytes } from './journal/segments.ts';
import { messageOf } from './messages.ts';

interface ShipperOptions {
  readonly folder: string;
  readonly events: Events;
  readonly log: Logger;
  readonly damage: Damage;
  /** Where the journal ends now. A folder whose writer is gone ends at its last byte. */
  readonly end: () => Cursor;
  /** What was just written, at hand. */
  readonly recent?: Recent<EventMessage>;
  /** Called with the size of each segment that was shipped and removed. */
  readonly released?: (bytes: number) => void;
  /** Called when everything up to the end was shipped. */
  readonly emptied?: () => void;
  /** Bytes of journal per publication. */
  readonly batchBytes?: number;
  /** Milliseconds between polls of a journal without new events. */
  readonly idleMs?: number;
}

export interface Shipper {
  /** Ships all that was written before; rejects at the first failure. */
  drain(): Promise<void>;
  /** Ships soon instead of later, unless it has to wait for the other side. */
  hurry(): void;
  /** Bytes written and not yet acknowledged. */
  lag(): number;
  stop(): Promise<void>;
}

interface Batch {
  readonly messages: readonly EventMessage[];
  readonly damaged?: readonly Fragment[];
  readonly next: Cursor;
}

const backoff = exponentialBackoff({ first: 100, most: 10_000 });

export const startShipper = (options: ShipperOptions): Shipper => {
  const { folder, events, log, damage, end, recent, idleMs = 500, batchBytes = 512 * 1024 } = options;
  const cursorFile = openCursorFile(folder);
  let cursor = readCursor(folder);
  /** Segments before this one are gone. */
  let cleanTo = -1;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  /** Waiting for the next poll, which may be moved forward. */
  let idle = true;
  let running: Promise<void> | undefined;
  let stopped = false;

  /**
   * All that was written before. What is written meanwhile waits for the next attempt: a publication has a cost of its
   * own, and at a few hundred events per second each would carry only a few.
   */
  const ship = async (): Promise<void> => {
    const last = end();
    while (isBefore(cursor, last)) {
      const batch = recentMessages() ?? readMessages();
      if (batch === undefined) return;
      if (batch.messages.length > 0) await events.publish('usage', batch.messages);
      // After that: a batch that cannot be published is read again, and its damaged lines with it.
      if (batch.damaged !== undefined && batch.damaged.length > 0) damage.damaged(folder, batch.damaged);
      cursor = batch.next;
      cursorFile.write(cursor);
      removeShipped();
      recent?.shipped(cursor);
    }
  };

  const recentMessages = (): Batch | undefined => {
    const batch = recent?.from(cursor, batchBytes);
    return batch && { messages: batch.entries, next: batch.next };
  };

  const readMessages = (): Batch | undefined => {
    const batch = readBatch(folder, cursor, end(), batchBytes);
    if (batch === undefined) return undefined;
    return { messages: batch.events.map(messageOf), damaged: batch.damaged, next: batch.next };
  };

  const removeShipped = (): void => {
    if (cleanTo === cursor.segment) return;
    cleanTo = cursor.segment;
    for (const segment of listSegments(folder)) {
      if (segment >= cursor.segment) return;
      const bytes = segmentBytes(folder, segment);
      removeSegment(folder, segment);
      options.released?.(bytes);
    }
  };

  const lag = (): number => {
    const last = end();
    return listSegments(folder).reduce((sum, segment) => {
      if (segment < cursor.segment || segment > last.segment) return sum;
      const size = segment === last.segment ? last.offset : segmentBytes(folder, segment);
      return sum + size - (segment === cursor.segment ? cursor.offset : 0);
    }, 0);
  };

  /** One attempt at a time: concurrent callers share it. */
  const attempt = (): Promise<void> => {
    running ??= ship().finally(() => {
      running = undefined;
    });
    return running;
  };

  /** An attempt that is under way may have begun before the latest events. */
  const drain = async (): Promise<void> => {
    await running;
    await attempt();
  };

  const loop = async (): Promise<void> => {
    try {
      await attempt();
      failures = 0;
      schedule(idleMs);
      idle = true;
      options.emptied?.();
    } catch (error) {
      const pause = backoff(++failures);
      log.warn({ err: error, retryMs: pause }, 'usage shipping failed; events stay in the journal');
      schedule(pause);
    }
  };

  const schedule = (ms: number): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      idle = false;
      void loop();
    }, ms).unref();
  };

  /** In a tick of its own: writers of the latest events are notified first. */
  const hurry = (): void => {
    if (!idle) return;
    idle = false;
    clearTimeout(timer);
    schedule(0);
  };

  schedule(idleMs);
  return {
    drain,
    hurry,
    lag,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running?.catch(() => {});
      cursorFile.close();
    },
  };
};
