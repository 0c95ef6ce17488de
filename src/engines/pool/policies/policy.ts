/** The contract of a balancing policy: chooses the replica of a call among those that can take it. */
import type { ChatCall } from '../../../ports/engines/chat.ts';
import type { CompletionCall } from '../../../ports/engines/completion.ts';
import type { Replica } from '../replica.ts';

export type PromptCall = ChatCall | CompletionCall;

/** What a policy may know of a call. */
export interface RoutedCall {
  /** Replicas that failed it. */
  readonly tried: readonly Replica[];
  /** The engine's name for the model, and the prompt; of conversations and text completions. */
  readonly model: string | undefined;
  readonly prompt: PromptCall | undefined;
  /** What its session is known by. */
  readonly session: string | undefined;
  /** Blocks of its prompt that the chosen replica is expected to compute; set by the policy. */
  uncached: number;
}

export interface Policy {
  /** `candidates` are one or more that can take the call now; the list is reused. */
  choose(candidates: readonly Replica[], call: RoutedCall, now: number): Replica;
  /** It left, or its cache is lost. */
  forget(replica: Replica): void;
  stats(): PolicyStats;
}

/** Prompt blocks of all calls, and those that were expected in the chosen replica's cache. */
export interface PolicyStats {
  readonly promptBlocks: number;
  readonly cachedBlocks: number;
}

/** A replica may run this many times its fair share of calls, and a few more, for the sake of what it knows. */
const RATIO = 1.5;
const SLACK = 8;

/** All candidates together. */
export interface Load {
  busy: number;
  weights: number;
}

export const loadOf = (candidates: readonly Replica[], now: number): Load => {
  const load = { busy: 0, weights: 0 };
  for (const { busy, share } of candidates) {
    load.busy += busy;
    load.weights += share.weightAt(now);
  }
  return load;
};

/** A popular prompt or session cannot drown a replica: its next call goes elsewhere. Never true of all candidates. */
export const isOverloaded = ({ busy }: Replica, weight: number, load: Load, candidates: number): boolean => {
  const part = weight / load.weights;
  return (
    busy > 0 &&
    busy + 1 > RATIO * (load.busy + 1) * part + Math.max(1, SLACK * Math.min(1, candidates * part))
  );
};
