/** Runs a workload in virtual time: the gateway's own policies on simulated replicas, without sockets. */
import type { Dispatch } from '../../src/engines/pool/dispatch.ts';
import type { Policy, RoutedCall } from '../../src/engines/pool/policies/policy.ts';
import { Replica } from '../../src/engines/pool/replica.ts';
import type { ChatCall, ChatMessage } from '../../src/ports/engines/chat.ts';
import { VirtualClock } from './clock.ts';
import { answerTo, type Driven, drive, rendered, type Sent } from './drive.ts';
import { type EngineSettings, type Hashed, hashed, PrefixEngine } from './prefix-engine.ts';
import { Random } from './random.ts';
import type { Message, Workload } from './workloads.ts';

export interface Simulated {
  readonly hitRate: number;
  readonly p50: number;
  readonly p99: number;
  /** Requests of the busiest replica, in means. */
  readonly imbalance: number;
  readonly requests: number;
}

export interface Simulation {
  readonly workload: Workload;
  readonly engine: EngineSettings;
  readonly replicas: number;
  readonly seconds: number;
  readonly seed: number;
}

/** One that knows the engines. */
export const simulateOracle = (
  simulation: Simulation,
  choose: (engines: readonly PrefixEngine[], prompt: Hashed) => number,
): Simulated =>
  simulate(simulation, (engines) => (_, run) => {
    const index = choose(engines, run.prompt);
    engines[index]?.send(run);
  });

/** Several gateways that know nothing of each other share the requests at random. */
export const simulatePolicy = (simulation: Simulation, open: () => Policy, gateways = 1): Simulated =>
  simulate(simulation, (engines, clock) => {
    const random = new Random(99);
    const all = Array.from({ length: gateways }, () => ({
      policy: open(),
      replicas: engines.map((_, index) => new Replica(`http://replica-${index}/v1`, noDispatch)),
    }));
    return (sent, run) => {
      const gateway = all[random.between(0, gateways - 1)];
      if (gateway === undefined) throw new Error('There is no gateway');
      const { policy, replicas } = gateway;
      const call = routed(sent);
      const replica = policy.choose(replicas, call, clock.now());
      replica.busy++;
      replica.share.prefill += call.uncached;
      engines[replicas.indexOf(replica)]?.send({
        ...run,
        first: (cached) => {
          replica.share.prefill -= call.uncached;
          run.first(cached);
        },
        end: () => {
          replica.busy--;
          run.end();
        },
      });
    };
  });

type Run = Parameters<PrefixEngine['send']>[0];

const simulate = (
  { workload, engine, replicas, seconds, seed }: Simulation,
  route: (engines: readonly PrefixEngine[], clock: VirtualClock) => (sent: Sent, run: Run) => void,
): Simulated => {
  const clock = new VirtualClock();
  const engines = Array.from({ length: replicas }, () => new PrefixEngine(clock, engine));
  const send = route(engines, clock);
  let driven: Driven | undefined;
  drive(
    workload,
    {
      send: (sent, answer) => {
        const text = answerTo(sent);
        const prompt = rendered(sent.messages);
        send(sent, {
          prompt: hashed(prompt, engine),
          whole: hashed(prompt + text, engine),
          first: () => answer.first(),
          end: () => answer.end(text),
        });
      },
    },
    { clock, seconds, seed, done: (result) => (driven = result) },
  );
  clock.run();
  if (driven === undefined) throw new Error('The workload did not end');
  return { ...engineFigures(engines), ...driverFigures(driven) };
};

export const engineFigures = (engines: readonly PrefixEngine[]) => {
  const sum = (value: (engine: PrefixEngine) => number): number =>
    engines.reduce((total, engine) => total + value(engine), 0);
  const requests = sum((engine) => engine.requests);
  return {
    hitRate: sum((engine) => engine.cachedTokens) / sum((engine) => engine.promptTokens),
    imbalance: (Math.max(...engines.map((engine) => engine.requests)) * engines.length) / requests,
    requests,
  };
};

export const driverFigures = ({ firstToken }: Driven) => ({
  p50: firstToken.percentile(0.5),
  p99: firstToken.percentile(0.99),
});

const noDispatch = {} as Dispatch;

export const routed = ({ messages }: Sent): RoutedCall => ({
  tried: [],
  model: 'bench',
  prompt: { messages: messages.map(chatMessage), tools: [] } as unknown as ChatCall,
  session: undefined,
  uncached: 0,
});

const chatMessage = ({ role, content }: Message): ChatMessage => {
  const text = [{ type: 'text', text: content }] as const;
  return role === 'assistant' ? { role, content: text, toolCalls: [] } : { role, content: text };
};
