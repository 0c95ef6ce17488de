/** Hashes short texts, and picks by weighted rendezvous hashing. */

/** 32 bits, the same in every process. */
export const textHash = (text: string, seed: number): number => {
  let hash = seed ^ text.length;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x85ebca6b);
    hash = (hash << 13) | (hash >>> 19);
  }
  return mixed(hash);
};

export const mixed = (hash: number): number => {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
};

/**
 * The highest of several gets a key: each gets its weight's share of keys, and when one leaves or joins, only its own
 * keys move.
 */
export const rendezvous = (key: number, seed: number, weight: number): number => {
  const unit = ((mixed(mixed(key) ^ seed) >>> 0) + 0.5) / 2 ** 32;
  return -weight / Math.log(unit);
};
