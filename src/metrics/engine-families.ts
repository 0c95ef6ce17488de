/** What engines and their replicas are doing in; their metrics out. Labels are the names and addresses of the configuration. */
import type { MetricFamily } from './exposition.ts';
import type { Sample } from './histogram.ts';

export interface EngineState {
  /** Calls that wait for a replica. */
  readonly waiting: number;
  readonly heldBytes: number;
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
  return [
    {
      name: 'sluice_engine_up',
      help: '1 while an engine has a replica that answers.',
      type: 'gauge',
      samples: Object.entries(health).map(([engine, word]) => ({
        labels: { engine },
        value: word === 'ok' ? 1 : 0,
      })),
    },
    {
      name: 'sluice_engine_waiting',
      help: 'Calls that wait for a replica of the engine.',
      type: 'gauge',
      samples: each(({ waiting }) => waiting),
    },
    {
      name: 'sluice_engine_held_bytes',
      help: 'Bytes of running answers that were read from the engine and wait for slow readers.',
      type: 'gauge',
      samples: each(({ heldBytes }) => heldBytes),
    },
    {
      name: 'sluice_replica_up',
      help: '0 while the circuit breaker of a replica is open or half-open.',
      type: 'gauge',
      samples: replicas(({ circuit }) => (circuit === 'closed' ? 1 : 0)),
    },
    {
      name: 'sluice_replica_in_flight',
      help: 'Calls that run on a replica.',
      type: 'gauge',
      samples: replicas(({ busy }) => busy),
    },
  ];
};

/** An address may stand in a row more than once, to be asked more often; samples must still be told apart. */
const nameOf = ({ replicas }: EngineState, index: number): string => {
  const url = replicas[index]?.url ?? '';
  const before = replicas.slice(0, index).filter((other) => other.url === url).length;
  return before === 0 ? url : `${url} (${before + 1})`;
};
