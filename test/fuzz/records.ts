/** Collects ids from responses for later requests. The first of each kind is never deleted. */
import type { Random } from '../../src/simulator/random.ts';

const kinds = ['store', 'file', 'item', 'video', 'music', 'link', 'response', 'stream'] as const;
export type RecordKind = (typeof kinds)[number];

const maxKept = 30;

export class Records {
  readonly #ids = new Map<RecordKind, string[]>(kinds.map((kind) => [kind, []]));

  add(kind: RecordKind, id: string): void {
    const ids = this.#of(kind);
    if (ids.includes(id)) return;
    ids.push(id);
    if (ids.length > maxKept) ids.splice(1, 1);
  }

  /** One that is there, as far as is known; the first where there is no other. */
  pick(kind: RecordKind, random: Random): string {
    const ids = this.#of(kind);
    return ids[random.integer(0, ids.length - 1)] ?? `no_${kind}`;
  }

  first(kind: RecordKind): string {
    return this.#of(kind)[0] ?? '';
  }

  /** One that may go, and is not given out again. */
  take(kind: RecordKind): string {
    const ids = this.#of(kind);
    return ids.length > 1 ? (ids.pop() ?? '') : `no_${kind}`;
  }

  /** Text with `{store}` and the like in it → with ids. */
  fill(text: string, random: Random): string {
    return text.replace(/\{(store|file|item|video|music|link)\}/g, (_, kind: RecordKind) =>
      this.pick(kind, random),
    );
  }

  #of(kind: RecordKind): string[] {
    return this.#ids.get(kind) ?? [];
  }
}
