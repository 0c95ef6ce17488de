/** A trace's id and what its parent decided in; whether we record it out. */
import { sampledFlag, type TraceParent } from './trace-context.ts';

export interface SamplerSettings {
  /** Part of the traces that begin here, 0 to 1. */
  readonly ratio: number;
  /** A trace that began elsewhere is recorded where its parent was. */
  readonly parentBased: boolean;
}

/** Digits at the end of an id, which are random in every id: 52 bits, all of them exact in a number. */
const digits = 13;

export const isSampled = (
  { ratio, parentBased }: SamplerSettings,
  traceId: string,
  parent: TraceParent | undefined,
): boolean =>
  parentBased && parent !== undefined
    ? (parent.flags & sampledFlag) !== 0
    : Number.parseInt(traceId.slice(-digits), 16) < ratio * 16 ** digits;
