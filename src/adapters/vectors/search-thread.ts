/** The script of the thread that searches the embedded vectors: a task in, its outcome out. */
import { parentPort } from 'node:worker_threads';
import type { SearchOutcome, SearchTask } from './search-task.ts';
import { Searcher } from './searcher.ts';

if (parentPort === null) throw new Error('This script runs as a worker thread only');
const main = parentPort;
let searcher: Searcher | undefined;

const outcomeOf = (task: SearchTask): SearchOutcome => {
  try {
    searcher ??= new Searcher(task.path, task.memory);
    return searcher.search(task);
  } catch (error) {
    return { error };
  }
};
main.on('message', (task: SearchTask) => main.postMessage(outcomeOf(task)));
