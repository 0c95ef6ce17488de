/** The worker thread that searches the embedded vectors. */
import { parentPort } from 'node:worker_threads';
import { whenFree } from '../sqlite.ts';
import { Searcher, type SearchOutcome, type SearchTask } from './searcher.ts';

if (parentPort === null) throw new Error('This script runs as a worker thread only');
const main = parentPort;
const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)));
let searcher: Searcher | undefined;

const search = (task: SearchTask): SearchOutcome => {
  searcher ??= new Searcher(task.path, task.memory);
  return searcher.search(task);
};

main.on('message', async (task: SearchTask) => {
  try {
    main.postMessage(await whenFree(() => search(task), asError));
  } catch (error) {
    main.postMessage({ error } satisfies SearchOutcome);
  }
});
