/** Polls until a value is truthy, and fails with a description after a bound. */
import { setTimeout as delay } from 'node:timers/promises';

/** How many times longer than elsewhere everything may take: an emulated processor asks for some. */
const patience = Number(process.env.SLUICE_TEST_PATIENCE ?? 1);

/** Bounds of tests, for the machine they run on. */
export const patiently = (milliseconds: number): number => milliseconds * patience;

type Seen<T> = Exclude<T, undefined | null | false>;

const isSeen = <T>(found: T): found is Seen<T> => found !== undefined && found !== null && found !== false;

export const eventually = async <T>(
  look: () => T | Promise<T>,
  what = String(look),
  seconds = 30,
): Promise<Seen<T>> => {
  const begun = performance.now();
  for (;;) {
    const found = await look();
    if (isSeen(found)) return found;
    const waited = performance.now() - begun;
    if (waited > patiently(seconds * 1000)) throw new Error(`waited in vain: ${what}`);
    // What comes soon is seen soon, what takes long is not asked for all the time.
    await delay(Math.min(2 + waited / 20, 50));
  }
};
