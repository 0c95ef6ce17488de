/** Blocks of memory that are used again: as garbage they would make V8 collect all of its heap several times a second. */

export const blockBytes = 64 * 1024;
const mostSpare = 256;
const spare: Buffer[] = [];

/** Its bytes are what its last user left. */
export const takeBlock = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes);

/** Nobody may hold a slice of it any more. */
export const giveBack = (block: Buffer): void => {
  if (spare.length < mostSpare) spare.push(block);
};
