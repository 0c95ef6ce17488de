/** Finds replicas in a file: a list as in `sluice.yaml`, read again whenever it changes. */
import { readFileSync } from 'node:fs';
import { Observable } from 'rxjs';
import { Compile } from 'typebox/compile';
import { parse } from 'yaml';
import { ReplicaRow, replicaWords } from '../../../schemas/engines.ts';
import { fileVersion } from '../../helpers/file-version.ts';
import type { ReplicaAddress } from '../pool/membership.ts';

const row = Compile(ReplicaRow);
const mostReplicas = 1000;
const mostBytes = 1024 * 1024;

export interface FileOptions {
  /** Milliseconds between two looks: that outlives editors and deployers that replace the file. */
  readonly interval?: number;
  /** Of a list that cannot be used; the former one stays. */
  readonly refused: (error: unknown) => void;
}

export const watchList = (
  file: string,
  { interval = 1000, refused }: FileOptions,
): Observable<readonly ReplicaAddress[]> =>
  new Observable((subscriber) => {
    let known: string | undefined;
    const look = (): void => {
      let list: readonly ReplicaAddress[];
      try {
        // Looked at before it is read: what is written in between is seen the next time.
        const version = fileVersion(file);
        if (version === known) return;
        known = version;
        list = readList(file);
      } catch (error) {
        refused(error);
        return;
      }
      subscriber.next(list);
    };
    look();
    const timer = setInterval(look, interval);
    timer.unref();
    return () => clearInterval(timer);
  });

const readList = (file: string): readonly ReplicaAddress[] => {
  const text = readFileSync(file, 'utf8');
  if (text.length > mostBytes) throw new Error(`${file} is longer than ${mostBytes} bytes`);
  const list: unknown = parse(text, { maxAliasCount: 0 }) ?? [];
  if (!Array.isArray(list) || list.length > mostReplicas)
    throw new Error(`${file} must have a list of at most ${mostReplicas} replicas`);
  return list.map((item: unknown, index) => {
    if (!row.Check(item)) throw new Error(`${file}: item ${index} must be ${replicaWords}`);
    return typeof item === 'string' ? { url: item } : item;
  });
};
