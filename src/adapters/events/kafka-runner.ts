/** Keeps a consumer that stops from occupying the process: a correction of kafkajs 2.2.4, imported for its effect. */
import { createRequire } from 'node:module';

interface Runner {
  readonly running: boolean;
  fetch(nodeId: number): Promise<readonly unknown[]>;
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as {
  prototype: Runner;
};
const { fetch } = prototype;

/**
 * When the set of brokers changes, the library replaces its fetchers. If the consumer is stopped meanwhile, nobody stops
 * the new ones. They would get an empty answer and ask again at once, in microtasks: timers and sockets never get a turn.
 */
prototype.fetch = function (nodeId) {
  return this.running ? fetch.call(this, nodeId) : Promise.reject(new Error('The consumer was stopped'));
};
