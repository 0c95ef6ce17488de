/**
 * Runs actors over one store in every order in which their calls can interleave.
 * Each call waits at a gate; the order is chosen step by step, and all choices are explored. Actors depend only on the
 * store's responses, so two orders with the same store and the same responses continue alike: one is enough.
 */
import type { State } from '../../src/ports/state.ts';
import { createModelState } from '../contracts/state-model.ts';

export interface Actor {
  readonly name: string;
  /** May stop for ever before any of its calls, as a process that is killed. */
  readonly mortal?: boolean;
  run(state: State): Promise<void>;
}

export interface World {
  readonly actors: readonly Actor[];
  /** Looks at what is left when every actor is done or dead; `log` names the calls in their order. */
  check(log: readonly string[]): Promise<void>;
  /** The state that distinguishes two worlds, beside the responses that actors got. */
  snapshot(): Promise<string>;
}

interface Waiting {
  readonly call: string;
  proceed(): Promise<void>;
}

type Choice = { readonly actor: number; readonly dies: boolean };

/** A gate in front of a store: every call waits at it. */
const gated = (state: State, arrive: (waiting: Waiting) => void, heard: (answer: string) => void): State =>
  new Proxy(state, {
    get: (target, name: keyof State) => {
      const method = target[name] as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) =>
        new Promise((resolve, reject) =>
          arrive({
            call: `${name} ${String(args[0])} ${typeof args[1] === 'string' ? args[1] : ''}`,
            proceed: () =>
              method(...args).then((answer) => {
                heard(JSON.stringify(answer) ?? 'nothing');
                resolve(answer);
              }, reject),
          }),
        );
    },
  });

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Gives how many different orders were tried to their end. */
export const explore = async (
  build: (state: State) => Promise<World>,
  most = 200_000,
): Promise<{ ends: number; steps: number }> => {
  const seen = new Set<string>();
  let ends = 0;
  let steps = 0;
  /** Prefixes of choices that are still to be followed. */
  const open: Choice[][] = [[]];

  const follow = async (prefix: readonly Choice[]): Promise<void> => {
    const state = createModelState();
    const world = await build(state);
    const waiting = new Map<number, Waiting>();
    const heard = world.actors.map(() => '');
    const log: string[] = [];
    const failures: unknown[] = [];
    world.actors.forEach((actor, index) => {
      const own = gated(
        state,
        (call) => waiting.set(index, call),
        (answer) => {
          heard[index] += `${answer}\n`;
        },
      );
      actor.run(own).catch((error: unknown) => failures.push(error));
    });
    const path: Choice[] = [];
    await turn();
    while (waiting.size > 0) {
      if (failures.length > 0) throw failures[0];
      const choices = [...waiting.keys()].sort().flatMap((actor): Choice[] => {
        const live = { actor, dies: false };
        return world.actors[actor]?.mortal === true ? [live, { actor, dies: true }] : [live];
      });
      let choice = prefix[path.length];
      if (choice === undefined) {
        const place = `${await world.snapshot()}|${heard.join('|')}|${[...waiting.keys()].sort().join()}`;
        if (seen.has(place)) return;
        seen.add(place);
        for (const other of choices.slice(1)) open.push([...path, other]);
        choice = choices[0];
      }
      if (choice === undefined) return;
      path.push(choice);
      const call = waiting.get(choice.actor);
      waiting.delete(choice.actor);
      log.push(`${world.actors[choice.actor]?.name} ${choice.dies ? 'dies before' : ''} ${call?.call}`);
      if (!choice.dies) await call?.proceed();
      if (++steps > most) throw new Error(`more than ${most} steps`);
      await turn();
    }
    if (failures.length > 0) throw failures[0];
    ends++;
    await world.check(log);
  };

  for (let prefix = open.pop(); prefix !== undefined; prefix = open.pop()) await follow(prefix);
  return { ends, steps };
};
