/** Decides which traces are recorded. */
import { sampledFlag, type TraceParent } from './trace-context.ts';

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
