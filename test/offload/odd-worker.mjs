/** A worker thread that does what a test tells it: answers, waits at a gate, or comes to grief in a chosen way. */
import { createHash } from 'node:crypto';
import { parentPort, threadId } from 'node:worker_threads';

const deeds = {
  name: () => parentPort.postMessage(threadId),
  hash: ({ payload }) => parentPort.postMessage(createHash('sha256').update(payload).digest('hex')),
  wait: ({ gate }) => {
    Atomics.add(gate, 1, 1);
    Atomics.wait(gate, 0, 0);
    parentPort.postMessage(threadId);
  },
  hang: () => {
    for (;;) Math.random();
  },
  exit: () => process.exit(3),
  throw: () => {
    throw new Error('odd');
  },
  'fill heap': () => {
    const held = [];
    for (;;) held.push(Array.from({ length: 1000 }, (_, index) => ({ index })));
  },
  'fill buffers': () => {
    const held = [];
    for (;;) held.push(Buffer.alloc(4 * 1024 * 1024, 1));
  },
};

parentPort.on('message', (task) => deeds[task.do](task));
