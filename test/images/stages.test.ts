/** Tests the responses of image routes when a stage throws or usage cannot be recorded. */
import { concat, NEVER, of, Subject, throwError } from 'rxjs';
import t from 'tap';
import { writePaced } from '../../pipelines/core/paced-bytes.ts';
import { lift } from '../../pipelines/core/stage.ts';
import { images } from '../../pipelines/images/images.ts';
import { defaultImage } from '../../src/catalog/image-models.ts';
import { resolveRow } from '../../src/catalog/resolve-row.ts';
import { fail } from '../../src/errors.ts';
import { createPictures } from '../../src/images/pictures.ts';
import { plainMedia } from '../../src/media/media-data.ts';
import type { Drawn } from '../../src/ports/engines/image.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { exchange, harness, run, usageLog } from '../chat/fixtures.ts';
import { eventually } from '../eventually.ts';
import { plain } from './drawing.ts';

const model = resolveRow('sluice/image', {
  engine: 'simulator',
  kind: 'image',
  capabilities: { image: defaultImage },
});

const drawn = async (): Promise<Drawn> => ({
  index: 0,
  image: plainMedia(await plain('jpeg')),
  revisedPrompt: undefined,
});

/** The replies of `POST /images` to a client that never reads. */
const posted = (part: Drawn, body: object = {}, onRecord?: UsageLog['record']) => {
  const { events, usage } = usageLog(onRecord);
  const { ports, leases } = harness(undefined, {
    usage,
    pictures: createPictures(),
    catalog: { ...harness().ports.catalog, resolve: () => ({ model, variant: undefined }) },
    engines: {
      of: () => ({ image: () => concat(of(part), NEVER) }),
      health: () => ({}),
      close: async () => undefined,
    },
  });
  const asked = exchange({ prompt: 'A fox', size: '512x512', ...body });
  asked.backpressure.pause();
  const seen: unknown[] = [];
  const pipeline = images(ports, { path: '/images', responseFormat: 'b64_json' });
  const subscription = run(pipeline, asked).subscribe({
    next: ({ kind }) => seen.push(kind),
    error: (error: Error) => seen.push(error.message),
    complete: () => seen.push('end'),
  });
  return {
    ...{ events, seen, subscription },
    released: () => eventually(() => leases[0]?.released === 1, 'the lease to be returned'),
  };
};

t.test('a stage that throws is a failure of the request', async (t) => {
  const bad = Object.defineProperty({ ...(await drawn()) }, 'image', {
    get: () => {
      throw new Error('boom');
    },
  });
  for (const stream of [false, true]) {
    const { seen, events, released } = posted(bad, { stream });
    await released();
    t.same(seen, ['boom']);
    t.match(events, [{ outcome: 'failed', status: 500, cost: '0' }]);
  }
});

t.test('a large body waits for the usage event', async (t) => {
  for (const stream of [false, true]) {
    const kept = new Subject<void>();
    const slow = posted(await drawn(), { stream }, () => kept);
    await eventually(() => slow.events.length === 1, 'the usage event');
    t.same(slow.seen, [], 'nothing is sent before the event is durable');
    kept.complete();
    t.same(slow.seen, ['head'], 'then it is sent as fast as the client reads');
    slow.subscription.unsubscribe();
    await slow.released();
    t.match(slow.events, [{ outcome: 'completed', status: 200 }], 'also where the client leaves meanwhile');
    t.equal(slow.events.length, 1);

    const lost = posted(await drawn(), { stream }, () => throwError(() => fail('unavailable', 'disk full')));
    await lost.released();
    t.same(lost.seen, ['disk full'], 'an event that cannot be kept still has its own status');
  }
});

t.test('a large body whose chunks throw is cut off', async (t) => {
  function* pieces() {
    yield Buffer.alloc(600 * 1024);
    throw new Error('boom');
  }
  const seen: unknown[] = [];
  of({ kind: 'paced', chunks: pieces() } as const)
    .pipe(lift(writePaced, { exchange: exchange() }))
    .subscribe({
      next: ({ kind }) => seen.push(kind),
      error: (error: Error) => seen.push(error.message),
    });
  await eventually(() => seen.includes('boom'), 'the end');
  t.same(seen, [...Array.from({ length: 9 }, () => 'bytes'), 'boom']);
});
