/** Removes reasoning from the parts that a client is sent. */
import type { Observer } from 'rxjs';
import { Forwarder } from '../core/stage.ts';
import type { SettledPart, SettledParts } from './settle.ts';

/** It is applied behind the counting, so hidden reasoning is billed. */
export const withoutReasoning = (receiver: Observer<SettledParts>): Observer<SettledParts> =>
  new WithoutReasoning(receiver);

class WithoutReasoning extends Forwarder<SettledParts, SettledParts> {
  /** What is left may be empty: it begins the stream, whose keep-alives tell the client that the model thinks. */
  next(parts: SettledParts): void {
    this.receiver.next(parts.some(isReasoning) ? parts.filter(isShown) : parts);
  }
}

const isReasoning = ({ type }: SettledPart): boolean => type === 'reasoning';
const isShown = ({ type }: SettledPart): boolean => type !== 'reasoning';
