/** What a gateway needs in; why no traffic should come to it now out. */
import type { Catalog } from '../ports/catalog.ts';
import type { Engines } from '../ports/engine.ts';
import type { State } from '../ports/state.ts';
import type { UsageLog } from '../ports/usage.ts';

export interface Needed {
  readonly state: Pick<State, 'check'>;
  readonly usage: Pick<UsageLog, 'ensureOpen'>;
  readonly catalog: Pick<Catalog, 'list'>;
  readonly engines: Pick<Engines, 'health'>;
}

export interface Readiness {
  /** It listens. */
  enter(): void;
  /** From now on traffic goes elsewhere: the process is about to end. */
  leave(): void;
  unready(): Promise<readonly string[]>;
}

/** Milliseconds after which a store that has not answered counts as away. */
const patience = 2_000;

export const createReadiness = ({ state, usage, catalog, engines }: Needed): Readiness => {
  let phase: 'starting' | 'here' | 'shutting down' = 'starting';
  return {
    enter: () => {
      phase = 'here';
    },
    leave: () => {
      phase = 'shutting down';
    },
    unready: async () => {
      const reasons = phase === 'here' ? [] : [`process: ${phase}`];
      const ask = async (what: string, question: () => unknown): Promise<void> => {
        try {
          await inTime(question());
        } catch (error) {
          reasons.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
        }
      };
      await ask('storage', () => state.check());
      await ask('usage', () => usage.ensureOpen());
      await ask('catalog', () => catalog.list());
      const words = Object.values(engines.health());
      if (words.length > 0 && words.every((word) => word === 'down')) reasons.push('engines: all are down');
      return reasons;
    },
  };
};

const inTime = async (answer: unknown): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer for ${patience} ms`)), patience);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};
