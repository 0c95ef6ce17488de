/** The folder in; where in it everything lies out: `files/<name>`, `writing/<random>`, `expiring/<time>/<name>`. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { checkedName } from './blob-name.ts';

/** Markers of one stretch of time share a folder: a sweep looks at nothing that is not due. */
const stretch = 10 * 60_000;

export class FolderLayout {
  readonly files: string;
  readonly writing: string;
  readonly expiring: string;

  constructor(folder: string) {
    this.files = join(folder, 'files');
    this.writing = join(folder, 'writing');
    this.expiring = join(folder, 'expiring');
  }

  file(name: string): string {
    return join(this.files, checkedName(name));
  }

  temporary(): string {
    return join(this.writing, randomBytes(16).toString('hex'));
  }

  /** Of a time ahead, whatever the file says, so that no sweep removes the folder under the marker's feet. */
  markerFolder(expiresAt: number): string {
    return join(this.expiring, String(Math.floor(Math.max(expiresAt, Date.now()) / stretch) + 2));
  }
}

export const markerOf = (name: string): string => name.replaceAll('/', '+');
export const nameOf = (marker: string): string => marker.replaceAll('+', '/');

/** A folder of markers whose time is over. */
export const isDue = (folder: string, now: number): boolean => {
  const time = Number(folder);
  return Number.isInteger(time) && time * stretch <= now;
};
