/** A span as it is recorded, and random ids for spans and traces. */
import { randomFillSync } from 'node:crypto';

interface SpanEvent {
  readonly name: string;
  /** Unix milliseconds, with a fraction. */
  readonly time: number;
}

export type SpanValue = string | number;

interface SpanStart {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it is the root of its trace. */
  readonly parentId: string;
  readonly state: string;
  readonly name: string;
  readonly kind: 'server' | 'client';
}

export const startSpan = (about: SpanStart) => ({
  ...about,
  start: wallClock(),
  end: 0,
  failed: false,
  attributes: {} as Record<string, SpanValue>,
  events: [] as SpanEvent[],
});

export type Span = ReturnType<typeof startSpan>;

/** Unix milliseconds with a fraction, monotonic. */
export const wallClock = (): number => performance.timeOrigin + performance.now();

/** Random bytes, fetched many at a time. */
const pool = Buffer.alloc(4096);
let used = pool.length;

const digits = (bytes: number): string => {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  const text = pool.toString('hex', used - bytes, used);
  // All zeros is an invalid id.
  return /^0+$/.test(text) ? digits(bytes) : text;
};

export const newTraceId = (): string => digits(16);
export const newSpanId = (): string => digits(8);
