/** Spreads what belongs to subscriptions over a fixed number of partitions, each in one hash slot of a cluster. */

/** Every process sends a heartbeat to each: more would cost more, fewer would leave large clusters unused. */
const count = 32;
const slotBits = 14;
const partitionBits = Math.log2(count);

/** CRC-16 (XMODEM), as clusters hash keys. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  return crc;
});

const slotOf = (text: string): number => {
  let crc = 0;
  for (let at = 0; at < text.length; at++)
    crc = ((crc << 8) ^ (table[((crc >> 8) ^ text.charCodeAt(at)) & 0xff] ?? 0)) & 0xffff;
  return crc & ((1 << slotBits) - 1);
};

/** A subscription, or another owner of limits, is always in the same one. */
export const partitionOf = (owner: string): number => slotOf(owner) >> (slotBits - partitionBits);

/** The smallest number for each whose slot is in that part of all slots: nodes with as many slots have as many of them. */
const tags: readonly string[] = (() => {
  const found: string[] = [];
  for (let number = 0, left = count; left > 0; number++) {
    const tag = String(number);
    const partition = partitionOf(tag);
    if (found[partition] !== undefined) continue;
    found[partition] = `{${tag}}`;
    left--;
  }
  return found;
})();

/** By partition: with it at the front, keys are in one slot. */
export const partitionTag = (partition: number): string => tags[partition] ?? '';

export const partitions: readonly number[] = tags.map((_, partition) => partition);

export const byPartition = <T>(
  all: readonly T[],
  of: (each: T) => number,
): readonly [number, readonly T[]][] => {
  const found = new Map<number, T[]>();
  for (const each of all) {
    const partition = of(each);
    const some = found.get(partition);
    if (some === undefined) found.set(partition, [each]);
    else some.push(each);
  }
  return [...found];
};
