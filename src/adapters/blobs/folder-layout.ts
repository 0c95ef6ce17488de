/** Paths in the folder: `files/<name>`, `writing/<random>`, `expiring/<time>/<name>`. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { checkedName, segmentOf } from './blob-names.ts';

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

  markerFolder(expiresAt: number): string {
    return join(this.expiring, segmentOf(expiresAt));
  }
}

export const markerOf = (name: string): string => name.replaceAll('/', '+');
export const nameOf = (marker: string): string => marker.replaceAll('+', '/');
