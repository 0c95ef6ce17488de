/** Parses and writes trace context by the rules of W3C, and decides which traces are recorded. */
import type { Trace } from '../ports/trace.ts';

interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

export const sampledFlag = 1;
const randomFlag = 2;

/** A later version may add fields after a dash; the known ones keep their positions. */
const format = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const maxParentLength = 256;

/** Undefined when it is missing or invalid: then a new trace begins, and `tracestate` is ignored. */
export const readParent = (text: string): TraceParent | undefined => {
  if (text === '' || text.length > maxParentLength) return undefined;
  const [, version, traceId, spanId, flags, more] = format.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
};

const maxStateLength = 512;
const maxMembers = 32;
const member =
  /^(?:[a-z][_a-z\d\-*/]{0,255}|[a-z\d][_a-z\d\-*/]{0,240}@[a-z][_a-z\d\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** As much of it as may be propagated, the newest first; empty when it is invalid. */
export const readState = (text: string): string => {
  if (text === '') return '';
  const members = text
    .split(',', maxMembers + 1)
    .map((each) => each.trim())
    .filter((each) => each !== '');
  if (members.length > maxMembers || !members.every((each) => member.test(each))) return '';
  if (new Set(members.map(keyOf)).size < members.length) return '';
  let kept = '';
  for (const each of members) {
    const next = kept === '' ? each : `${kept},${each}`;
    if (next.length > maxStateLength) break;
    kept = next;
  }
  return kept;
};

const keyOf = (pair: string): string => pair.slice(0, pair.indexOf('='));

export const contextLines = ({ traceId, spanId, flags }: TraceParent, state: string): string => {
  const known = (flags & (sampledFlag | randomFlag)).toString(16).padStart(2, '0');
  const parent = `traceparent: 00-${traceId}-${spanId}-${known}\r\n`;
  return state === '' ? parent : `${parent}tracestate: ${state}\r\n`;
};

/** A client's trace that is propagated but not recorded; undefined when there is none. */
export const propagated = (traceparent: string, tracestate: string): Trace | undefined => {
  const parent = readParent(traceparent);
  if (parent === undefined) return undefined;
  return {
    id: parent.traceId,
    lines: contextLines(parent, readState(tracestate)),
    startCall: () => undefined,
    end: () => undefined,
  };
};

export interface SamplerSettings {
  /** Fraction of the traces that begin here, 0 to 1. */
  readonly ratio: number;
  /** A trace that began elsewhere is recorded where its parent was. */
  readonly parentBased: boolean;
}

/** The last digits of an id are random in every id: 52 bits, exact in a number. */
const digits = 13;

export const isSampled = (
  { ratio, parentBased }: SamplerSettings,
  traceId: string,
  parent: TraceParent | undefined,
): boolean =>
  parentBased && parent !== undefined
    ? (parent.flags & sampledFlag) !== 0
    : Number.parseInt(traceId.slice(-digits), 16) < ratio * 16 ** digits;
