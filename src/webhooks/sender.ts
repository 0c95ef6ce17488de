/** Sends due deliveries as signed requests to their receivers, and records the outcome of each. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { DeliveryAttempt } from '../../schemas/webhooks.ts';
import { ApiError } from '../errors.ts';
import { PollLoop } from '../helpers/poll-loop.ts';
import type { GuardedFetch } from '../media/guarded-fetch.ts';
import type { Deliveries, StoredDelivery } from './deliveries.ts';
import { type SigningSecrets, signatureOf } from './secrets.ts';

const userAgent = 'Sluice-Webhooks/1.4';

interface SenderParts {
  readonly deliveries: Deliveries;
  readonly secrets: SigningSecrets;
  /** Checks the address on the connected socket; fails when the receiver takes too long. */
  readonly fetch: GuardedFetch;
  readonly log: Logger;
  readonly now?: () => number;
}

interface SenderSettings {
  /** Milliseconds between polls. */
  readonly pollMs?: number;
}

/** Requests at once from this process; and of those to one subscription's receivers. */
const maxConcurrent = 32;
const maxPerSubscription = 8;
/** Deliveries over a subscription's quota are postponed by this, so that they do not block others. */
const postponeMs = 2_000;
/** Bytes and milliseconds of a response body that are read, as some receivers mind a connection that breaks off. */
const maxBodyBytes = 16 * 1024;
const bodyTimeoutMs = 1_000;
/** The first attempt and five more. */
const maxTries = 6;

export class Sender {
  readonly #parts: SenderParts;
  readonly #now: () => number;
  readonly #claim = randomBytes(8).toString('hex');
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #perSubscription = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #loop: PollLoop;
  /** Attempts that ended since the start. */
  readonly ended = { delivered: 0, failed: 0 };

  constructor(parts: SenderParts, { pollMs = 1_000 }: SenderSettings = {}) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#loop = new PollLoop(
      pollMs,
      () => this.#poll(),
      (error) => parts.log.warn({ err: error }, 'webhook delivery poll failed'),
    );
    this.wake();
  }

  /** Something may be due. */
  wake(): void {
    this.#loop.wake();
  }

  /** Deliveries under way. */
  get sending(): number {
    return this.#underWay.size;
  }

  /** Everything that is due now has been tried. */
  async settled(): Promise<void> {
    this.wake();
    do {
      await Promise.all(this.#underWay.values());
      await this.#loop.idle();
    } while (this.#underWay.size > 0);
  }

  /** Deliveries under way are put back, for others or for the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop.close();
    await Promise.all(this.#underWay.values());
  }

  async #poll(): Promise<void> {
    const { deliveries } = this.#parts;
    const capacity = maxConcurrent - this.#underWay.size;
    if (capacity <= 0) return; // each one that ends polls again
    for (const record of await deliveries.due(capacity)) await this.#take(record);
    await deliveries.deleteOld(100);
  }

  async #take(record: StoredDelivery): Promise<void> {
    const { deliveries } = this.#parts;
    const { subscription, tries } = record.value;
    if (this.#underWay.has(record.id)) return;
    if (tries >= maxTries) return deliveries.giveUp(record);
    const running = this.#perSubscription.get(subscription) ?? 0;
    if (running >= maxPerSubscription) {
      this.wake(); // others may be due behind it
      return deliveries.postpone(record, postponeMs);
    }
    const claimed = await deliveries.claim(record, this.#claim);
    if (claimed === undefined) return;
    this.#perSubscription.set(subscription, running + 1);
    const ended = this.#attempt(claimed).finally(() => {
      this.#underWay.delete(record.id);
      const left = (this.#perSubscription.get(subscription) ?? 1) - 1;
      if (left === 0) this.#perSubscription.delete(subscription);
      else this.#perSubscription.set(subscription, left);
      this.wake();
    });
    this.#underWay.set(record.id, ended);
  }

  async #attempt(record: StoredDelivery): Promise<void> {
    const { deliveries, log } = this.#parts;
    const time = this.#now();
    const started = performance.now();
    const attempt = (status: number | null, error: string | null): DeliveryAttempt => ({
      time,
      status,
      error,
      milliseconds: Math.round(performance.now() - started),
    });
    try {
      const status = await this.#post(record, time).catch((error: unknown) => describe(error));
      // Whether it arrived is not known: it is sent again rather than not at all.
      if (this.#closing.signal.aborted && typeof status === 'string') await deliveries.putBack(record);
      else if (typeof status === 'string') {
        this.ended.failed++;
        await deliveries.failed(record, attempt(null, status));
      } else if (status >= 200 && status < 300) {
        this.ended.delivered++;
        await deliveries.delivered(record, attempt(status, null));
      } else {
        this.ended.failed++;
        await deliveries.failed(record, attempt(status, `answered ${status}`));
      }
    } catch (error) {
      log.warn(
        { err: error, delivery: record.id },
        'webhook delivery outcome not stored: it may be sent again',
      );
    }
  }

  async #post(record: StoredDelivery, time: number): Promise<number> {
    const { secrets, fetch } = this.#parts;
    const { url, body, subscription } = record.value;
    const signing = await secrets.signing(subscription);
    return fetch(
      {
        url,
        field: 'callback_url',
        maxRedirects: 0,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': userAgent,
          'x-service-signature': signatureOf(body, Math.floor(time / 1000), signing),
          'x-service-idempotency-key': record.id,
        },
        body,
      },
      this.#closing.signal,
      async ({ statusCode, body: answer }) => {
        // Only the status counts.
        await answer
          .dump({ limit: maxBodyBytes, signal: AbortSignal.timeout(bodyTimeoutMs) })
          .catch(() => undefined);
        return statusCode;
      },
    );
  }
}

const describe = (error: unknown): string =>
  error instanceof ApiError ? error.message.replace('fetched', 'reached') : 'could not be sent';
