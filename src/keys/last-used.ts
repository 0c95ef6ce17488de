/** Notes when keys were last used: at most once a minute per key and gateway. */
import type { KeyUseRecord } from '../../schemas/records.ts';
import { everyRecord } from '../helpers/stored-records.ts';
import type { State } from '../ports/state.ts';

const kind = 'key-use';
const pauseMs = 60_000;
/** Keys whose last note is remembered. */
const mostNoted = 10_000;

export interface LastUsed {
  /** Costs a lookup; the store is written in the background. */
  note(key: string, subscription: string): void;
}

export const createLastUsed = (
  state: State,
  failed: (error: unknown) => void,
  now: () => number = Date.now,
): LastUsed => {
  const noted = new Map<string, number>();
  const write = async (key: string, subscription: string, value: KeyUseRecord): Promise<void> => {
    const known = await state.get<KeyUseRecord>(kind, key);
    if (known === undefined) await state.create(kind, { id: key, owner: subscription, value });
    // Where another gateway was faster, its note is as good.
    else if (known.value.last < value.last) await state.update(kind, key, known.version, { value });
  };
  return {
    note: (key, subscription) => {
      const at = now();
      if (at < (noted.get(key) ?? Number.NEGATIVE_INFINITY) + pauseMs) return;
      if (noted.size >= mostNoted) noted.clear();
      noted.set(key, at);
      write(key, subscription, { last: Math.floor(at / 1000) }).catch(failed);
    },
  };
};

/** Unix seconds by the id of the key. */
export const lastUses = async (state: State): Promise<ReadonlyMap<string, number>> => {
  const uses = new Map<string, number>();
  for await (const { id, value } of everyRecord<KeyUseRecord>(state, kind)) uses.set(id, value.last);
  return uses;
};
