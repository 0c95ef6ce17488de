/** Two corrections of kafkajs 2.2.4, imported for their effect: it would occupy the process for nothing. */
import { createRequire } from 'node:module';

interface Runner {
  readonly running: boolean;
  fetch(nodeId: number): Promise<readonly unknown[]>;
}

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const library = createRequire(import.meta.url);
const runner = (library('kafkajs/src/consumer/runner.js') as { prototype: Runner }).prototype;
const queue = (library('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }).prototype;
const { fetch } = runner;
const { scheduleCheckPendingRequests } = queue;

/**
 * When the set of brokers changes, the library replaces its fetchers. If the consumer is stopped meanwhile, nobody stops
 * the new ones. They would get an empty answer and ask again at once, in microtasks: timers and sockets never get a turn.
 */
runner.fetch = function (nodeId) {
  return this.running ? fetch.call(this, nodeId) : Promise.reject(new Error('The consumer was stopped'));
};

/** Each connection would look for requests to send every millisecond, also while there are none: 20 ms of CPU time a second. */
queue.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};
