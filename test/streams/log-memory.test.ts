/** Tests the memory of stream logs, and the ids of events that come as bytes. */
import t, { type Test } from 'tap';
import { EventIds } from '../../pipelines/core/event-ids.ts';
import { LogBudget } from '../../src/adapters/streams/log-budget.ts';
import { blockBytes, SpillFile } from '../../src/adapters/streams/spill-file.ts';

const megabyte = 1024 * 1024;

const budgetOf = (t: Test, memoryBytes: number): LogBudget =>
  new LogBudget(
    { streamBytes: megabyte, allBytes: 64 * megabyte, memoryBytes, spillBytes: blockBytes },
    new SpillFile(t.testdir()),
  );

t.test('memory is used again by logs of about the same size', async (t) => {
  const budget = budgetOf(t, megabyte);
  const sizes = [1, blockBytes, blockBytes + 1, 3 * blockBytes, 256 * 1024].map((bytes) => {
    const memory = budget.take('one', bytes);
    budget.release('one', memory);
    const again = budget.take('another', bytes);
    t.equal(again, memory, `${bytes} bytes`);
    budget.release('another', again);
    return memory.length / blockBytes;
  });
  t.strictSame(sizes, [1, 1, 2, 4, 16]);
  t.equal(budget.memory, 0);
});

t.test('none is kept that is large, or more than logs may take', async (t) => {
  const budget = budgetOf(t, 2 * blockBytes);
  const large = budget.take('one', 256 * 1024 + 1);
  t.equal(large.length, 256 * 1024 + 1, 'it is not rounded up');
  budget.release('one', large);
  t.not(budget.take('one', 256 * 1024 + 1), large);
  const small = budgetOf(t, 2 * blockBytes);
  const taken = [1, 2, 3].map(() => small.take('one', 1));
  for (const memory of taken) small.release('one', memory);
  const again = [1, 2, 3].map(() => small.take('one', 1));
  t.equal(again.filter((memory) => taken.includes(memory)).length, 2);
});

t.test('events that come as bytes are UTF-8', async (t) => {
  const ids = new EventIds(7);
  t.equal(ids.number(Buffer.from('data: naïve 水\n\ndata: ')), 'id: 7\ndata: naïve 水\n\n');
  t.equal(ids.number('on\n\n'), 'id: 8\ndata: on\n\n');
  t.equal(ids.next, 9);
});
