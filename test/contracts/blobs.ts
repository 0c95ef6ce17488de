/** The contract suite of Blobs adapters. `open` connects to the same store each time. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { firstValueFrom, lastValueFrom, Observable, of, Subject, toArray } from 'rxjs';
import type { Test } from 'tap';
import { fail } from '../../src/errors.ts';
import { Backpressure, type Pausable } from '../../src/ports/backpressure.ts';
import type { BlobOptions, Blobs, ByteRange } from '../../src/ports/blobs.ts';

const missing = fail('not_found', 'There is no such file');
const png: BlobOptions = { mediaType: 'image/png' };

export const blobsContract = async (t: Test, open: () => Promise<Blobs>): Promise<void> => {
  const blobs = await open();
  t.teardown(() => blobs.close());
  await blobs.check();

  let names = 0;
  /** Each test works under names of its own. */
  const newName = () => `contract/case-${++names}.bin`;
  const readAll = async (name: string, range?: ByteRange): Promise<Buffer> =>
    Buffer.concat(await firstValueFrom(blobs.read(name, new Backpressure(), range).pipe(toArray())));

  t.test('bytes are stored under a name, replaced and removed', async (t) => {
    const name = newName();
    t.equal(await blobs.stat(name), undefined);
    await t.rejects(readAll(name), missing);

    await blobs.put(name, Buffer.from('first'), png);
    t.strictSame(await blobs.stat(name), { mediaType: 'image/png', size: 5 });
    t.equal((await readAll(name)).toString(), 'first');

    const other = await open();
    t.teardown(() => other.close());
    await other.put(name, Buffer.from('the second'), { mediaType: 'text/plain; charset=utf-8' });
    t.strictSame(await blobs.stat(name), { mediaType: 'text/plain; charset=utf-8', size: 10 });
    t.equal((await readAll(name)).toString(), 'the second');

    await blobs.remove(name);
    await blobs.remove(name);
    t.equal(await blobs.stat(name), undefined);
  });

  t.test('a range is cut at the end of the blob', async (t) => {
    const name = newName();
    await blobs.put(name, Buffer.from('0123456789'), png);
    t.equal((await readAll(name, { start: 0, end: 1 })).toString(), '0');
    t.equal((await readAll(name, { start: 3, end: 7 })).toString(), '3456');
    t.equal((await readAll(name, { start: 8, end: 99 })).toString(), '89');
    t.equal((await readAll(name, { start: 10, end: 11 })).toString(), '');
    t.equal((await readAll(name, { start: 4, end: 4 })).toString(), '');
  });

  t.test('an empty blob is a blob', async (t) => {
    const [put, written] = [newName(), newName()];
    await blobs.put(put, Buffer.alloc(0), png);
    await lastValueFrom(blobs.write(written, of(), { ...png, backpressure: new Backpressure() }));
    for (const name of [put, written]) {
      t.strictSame(await blobs.stat(name), { mediaType: 'image/png', size: 0 });
      t.equal((await readAll(name)).length, 0);
    }
  });

  t.test('a stream of any length arrives whole, with backpressure on its source', async (t) => {
    const name = newName();
    const source = new PacedSource(13_000_003, 50_000);
    const info = await lastValueFrom(
      blobs.write(name, source.bytes(), { ...png, backpressure: source.backpressure }),
    );
    t.strictSame(info, { mediaType: 'image/png', size: source.size });
    t.strictSame(await blobs.stat(name), info);
    t.ok(source.pauses > 0, 'the source was paused');
    const read = await readAll(name);
    t.equal(read.length, source.size);
    t.equal(createHash('sha256').update(read).digest('hex'), source.hash);
    const middle = await readAll(name, { start: 6_000_000, end: 6_000_100 });
    t.ok(middle.equals(read.subarray(6_000_000, 6_000_100)));
  });

  t.test('a blob appears only when it is complete', async (t) => {
    const name = newName();
    const bytes = new Subject<Buffer>();
    const written = lastValueFrom(blobs.write(name, bytes, { ...png, backpressure: new Backpressure() }));
    bytes.next(Buffer.alloc(100_000));
    t.equal(await blobs.stat(name), undefined);
    bytes.complete();
    t.strictSame(await written, { mediaType: 'image/png', size: 100_000 });
    t.strictSame(await blobs.stat(name), { mediaType: 'image/png', size: 100_000 });
  });

  t.test('a source that fails leaves nothing, and its failure is passed on', async (t) => {
    const name = newName();
    const bytes = new Subject<Buffer>();
    const written = lastValueFrom(blobs.write(name, bytes, { ...png, backpressure: new Backpressure() }));
    bytes.next(randomBytes(6_000_000));
    const failure = new Error('the source broke');
    bytes.error(failure);
    await t.rejects(written, failure);
    t.equal(await blobs.stat(name), undefined);
  });

  t.test('unsubscribing ends the source and leaves nothing', async (t) => {
    const name = newName();
    const bytes = new Subject<Buffer>();
    const subscription = blobs.write(name, bytes, { ...png, backpressure: new Backpressure() }).subscribe();
    bytes.next(randomBytes(1000));
    t.ok(bytes.observed);
    subscription.unsubscribe();
    t.notOk(bytes.observed);
    t.equal(await blobs.stat(name), undefined);
  });

  t.test('a paused reader gets nothing until it resumes', async (t) => {
    const name = newName();
    const bytes = randomBytes(3_000_000);
    await blobs.put(name, bytes, png);
    const backpressure = new Backpressure();
    const got: Buffer[] = [];
    let afterPause = 0;
    await new Promise<void>((resolve, reject) => {
      blobs.read(name, backpressure).subscribe({
        next: (piece) => {
          if (backpressure.paused) afterPause += 1;
          got.push(piece);
          backpressure.pause();
          setImmediate(() => setImmediate(() => backpressure.resume()));
        },
        error: reject,
        complete: resolve,
      });
    });
    t.equal(afterPause, 0);
    t.ok(Buffer.concat(got).equals(bytes));
  });

  t.test('a reader may unsubscribe in the middle', async (t) => {
    const name = newName();
    await blobs.put(name, randomBytes(1_000_000), png);
    const piece = await firstValueFrom(blobs.read(name, new Backpressure()));
    t.ok(piece.length > 0);
  });

  t.test('an expired blob does not exist', async (t) => {
    const [past, future] = [newName(), newName()];
    await blobs.put(past, Buffer.from('old'), { ...png, expiresAt: Date.now() - 1000 });
    await blobs.put(future, Buffer.from('new'), { ...png, expiresAt: Date.now() + 60_000 });
    t.equal(await blobs.stat(past), undefined);
    await t.rejects(readAll(past), missing);
    t.strictSame(await blobs.stat(future), { mediaType: 'image/png', size: 3 });
  });

  t.test('a name that could escape its folder is refused', async (t) => {
    const bad = [
      '',
      '/',
      '../up',
      'a/../b',
      'a//b',
      '/a',
      'a/',
      '.hidden',
      'a/.b',
      'a b',
      'a\0',
      'ä',
      'a%2fb',
    ];
    for (const name of [...bad, 'x'.repeat(201)])
      await t.rejects(async () => blobs.put(name, Buffer.alloc(1), png), /is no name for a blob/, name);
    for (const name of ['A-b_c.d', 'x'.repeat(200), 'a/b/c.png']) await blobs.put(name, Buffer.alloc(1), png);
  });

  t.test('a link names the blob and differs by time', async (t) => {
    const name = newName();
    await blobs.put(name, Buffer.from('linked'), png);
    const link = new URL(await blobs.link(name, 60));
    t.ok(link.pathname.endsWith(name), link.href);
    t.not(await blobs.link(name, 61), link.href);
  });
};

/** A source with backpressure that emits once per tick and records what it sent. */
class PacedSource implements Pausable {
  readonly backpressure = new Backpressure();
  readonly size: number;
  pauses = 0;
  readonly #piece: number;
  readonly #hash = createHash('sha256');
  #paused = false;
  #send: (() => void) | undefined;

  constructor(size: number, piece: number) {
    this.size = size;
    this.#piece = piece;
  }

  get hash(): string {
    return this.#hash.copy().digest('hex');
  }

  pause(): void {
    this.pauses += 1;
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    setImmediate(() => this.#send?.());
  }

  bytes(): Observable<Buffer> {
    return new Observable((subscriber) => {
      let left = this.size;
      this.backpressure.attach(this);
      this.#send = () => {
        while (!this.#paused && left > 0) {
          const piece = randomBytes(Math.min(this.#piece, left));
          this.#hash.update(piece);
          left -= piece.length;
          subscriber.next(piece);
        }
        if (left === 0) subscriber.complete();
      };
      assert(!this.#paused);
      this.#send();
    });
  }
}
