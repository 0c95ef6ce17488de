/** Deliveries that are due in; signed requests to their receivers out, and what came of each written down. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { DeliveryAttempt } from '../../schemas/webhooks.ts';
import { ApiError } from '../errors.ts';
import type { GuardedFetch } from '../media/guarded-fetch.ts';
import type { Deliveries, StoredDelivery } from './deliveries.ts';
import type { SigningSecrets } from './secrets.ts';
import { signatureOf } from './signature.ts';

export const userAgent = 'Sluice-Webhooks/1.4';

export interface SenderParts {
  readonly deliveries: Deliveries;
  readonly secrets: SigningSecrets;
  /** Checks the address on the connected socket; gives up when the receiver's time is over. */
  readonly fetch: GuardedFetch;
  readonly log: Logger;
  readonly now?: () => number;
}

export interface SenderSettings {
  /** Milliseconds between looks. */
  readonly pollMs?: number;
}

/** At once from this process; and of those to one subscription's receivers. */
const mostAtOnce = 32;
const mostOfOne = 8;
/** What is over a subscription's share waits this long, so that it does not stand in others' way. */
const stepBackMs = 2_000;
/** Bytes of an answer that are read, out of politeness. */
const readOfAnswer = 16 * 1024;
const politenessMs = 1_000;
/** The first attempt and five more. */
const mostTries = 6;

export class Sender {
  readonly #parts: SenderParts;
  readonly #now: () => number;
  readonly #claim = randomBytes(8).toString('hex');
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #perSubscription = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #again = false;
  /** Attempts that ended since the start. */
  readonly ended = { delivered: 0, failed: 0 };

  constructor(parts: SenderParts, { pollMs = 1_000 }: SenderSettings = {}) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#timer = setInterval(() => this.wake(), pollMs).unref();
    this.wake();
  }

  /** Something may be due. */
  wake(): void {
    if (this.#closing.signal.aborted) return;
    this.#again = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#again) this.wake(); // asked for as it ended
    });
  }

  /** Deliveries under way. */
  get sending(): number {
    return this.#underWay.size;
  }

  /** Everything that is due now has been tried. */
  async settled(): Promise<void> {
    do {
      this.wake();
      await this.#looking;
      await Promise.all(this.#underWay.values());
    } while (this.#underWay.size > 0 || this.#again);
  }

  /** What is under way is left, for others or for the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#looking;
    await Promise.all(this.#underWay.values());
  }

  async #look(): Promise<void> {
    const { deliveries, log } = this.#parts;
    while (this.#again && !this.#closing.signal.aborted) {
      this.#again = false;
      try {
        const room = mostAtOnce - this.#underWay.size;
        if (room <= 0) return; // whoever ends looks again
        for (const record of await deliveries.due(room)) await this.#take(record);
        await deliveries.forgetOld(100);
      } catch (error) {
        log.warn({ err: error }, 'deliveries cannot be looked for now');
      }
    }
  }

  async #take(record: StoredDelivery): Promise<void> {
    const { deliveries } = this.#parts;
    const { subscription, tries } = record.value;
    if (this.#underWay.has(record.id)) return;
    if (tries >= mostTries) return deliveries.giveUp(record);
    const running = this.#perSubscription.get(subscription) ?? 0;
    if (running >= mostOfOne) {
      this.#again = true; // those behind it are to be seen
      return deliveries.postpone(record, stepBackMs);
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
        'the outcome of a delivery was not kept: it may be sent again',
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
        // The status decides; the rest is let run out a little, since some receivers mind a connection that breaks off.
        await answer
          .dump({ limit: readOfAnswer, signal: AbortSignal.timeout(politenessMs) })
          .catch(() => undefined);
        return statusCode;
      },
    );
  }
}

const describe = (error: unknown): string =>
  error instanceof ApiError ? error.message.replace('fetched', 'reached') : 'could not be sent';
