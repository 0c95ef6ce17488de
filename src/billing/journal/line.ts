/** A journal line: eight hex digits of CRC-32, a space, one JSON text, a newline. Torn or altered lines do not read. */
import { crc32 } from 'node:zlib';

const checksumLength = 8;
const space = 0x20;

export const encodeLine = (json: string): string => `${checksum(json)} ${json}\n`;

/** The JSON text of a line without its newline; undefined when the line is not whole. */
export const decodeLine = (line: Buffer): string | undefined => {
  if (line.length <= checksumLength + 1 || line[checksumLength] !== space) return undefined;
  const json = line.toString('utf8', checksumLength + 1);
  return checksum(json) === line.toString('latin1', 0, checksumLength) ? json : undefined;
};

const checksum = (json: string): string => crc32(json).toString(16).padStart(checksumLength, '0');
