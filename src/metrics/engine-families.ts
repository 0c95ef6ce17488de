/** Metric families of engines and their replicas, labelled with the names and addresses of the configuration. */
import { counter, gauge, type MetricFamily, type Sample } from './exposition.ts';

export interface EngineState {
  /** Calls that wait for a replica. */
  readonly waiting: number;
  readonly heldBytes: number;
  /** Retries that count against the budget, and those that it did not allow. */
  readonly retries: { readonly made: number; readonly refused: number };
  /** Streams that broke off: those that went on elsewhere, and those that could not. */
  readonly continuations: { readonly made: number; readonly failed: number };
  readonly promptBlocks: number;
  readonly cachedBlocks: number;
  readonly replicas: readonly { readonly url: string; readonly circuit: string; readonly busy: number }[];
}

export const engineFamilies = (
  health: Readonly<Record<string, 'ok' | 'down'>>,
  engines: ReadonlyMap<string, EngineState>,
): readonly MetricFamily[] => {
  const each = (value: (state: EngineState) => number): readonly Sample[] =>
    [...engines].map(([engine, state]) => ({ labels: { engine }, value: value(state) }));
  const replicas = (value: (replica: EngineState['replicas'][number]) => number): readonly Sample[] =>
    [...engines].flatMap(([engine, state]) =>
      state.replicas.map((replica, index) => ({
        labels: { engine, replica: nameOf(state, index) },
        value: value(replica),
      })),
    );
  const up = Object.entries(health).map(([engine, state]) => ({
    labels: { engine },
    value: state === 'ok' ? 1 : 0,
  }));
  return [
    gauge('sluice_engine_up', '1 while an engine has a replica that responds.', up),
    gauge(
      'sluice_engine_waiting',
      'Calls that wait for a replica of the engine.',
      each(({ waiting }) => waiting),
    ),
    gauge(
      'sluice_engine_held_bytes',
      'Bytes of running responses that were read from the engine and wait for slow clients.',
      each(({ heldBytes }) => heldBytes),
    ),
    counter(
      'sluice_engine_retries_total',
      'Calls that were repeated on another replica; those that no engine had seen do not count.',
      each(({ retries }) => retries.made),
    ),
    counter(
      'sluice_engine_retries_refused_total',
      'Retries that were not made because the retry budget was used up.',
      each(({ retries }) => retries.refused),
    ),
    counter(
      'sluice_engine_continuations_total',
      'Streams that a replica broke off and another one went on with.',
      each(({ continuations }) => continuations.made),
    ),
    counter(
      'sluice_engine_continuations_failed_total',
      'Streams that a replica broke off and that could not be continued, of engines that continue.',
      each(({ continuations }) => continuations.failed),
    ),
    counter(
      'sluice_engine_prompt_blocks_total',
      'Blocks of 512 bytes of the prompts that were routed by prefix.',
      each(({ promptBlocks }) => promptBlocks),
    ),
    counter(
      'sluice_engine_prompt_blocks_matched_total',
      'Those that the chosen replica had seen before, and so may have in its prefix cache.',
      each(({ cachedBlocks }) => cachedBlocks),
    ),
    gauge(
      'sluice_replica_up',
      '0 while the circuit breaker of a replica is open or half-open.',
      replicas(({ circuit }) => (circuit === 'closed' ? 1 : 0)),
    ),
    gauge(
      'sluice_replica_in_flight',
      'Calls that run on a replica.',
      replicas(({ busy }) => busy),
    ),
  ];
};

/** A row may list an address more than once, as a weight; its samples still need different labels. */
const nameOf = ({ replicas }: EngineState, index: number): string => {
  const url = replicas[index]?.url ?? '';
  const before = replicas.slice(0, index).filter((other) => other.url === url).length;
  return before === 0 ? url : `${url} (${before + 1})`;
};
