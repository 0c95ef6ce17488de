/** A way to get an object in; its bytes out, as fast as backpressure allows. */
import { Observable } from 'rxjs';
import type { Backpressure, Pausable } from '../../ports/backpressure.ts';
import type { S3Response } from './s3-client.ts';
import { asUnavailable } from './unavailable.ts';

/** `get` resolves to undefined where there are no bytes to come, and rejects with what the reader is to hear. */
export const s3Source = (
  get: (signal: AbortSignal) => Promise<S3Response['body'] | undefined>,
  backpressure: Backpressure,
): Observable<Buffer> =>
  new Observable((subscriber) => {
    const left = new AbortController();
    let listener: Pausable | undefined;
    const start = (body: S3Response['body'] | undefined): void => {
      if (body === undefined) {
        subscriber.complete();
        return;
      }
      body.on('error', (error) => subscriber.error(asUnavailable(error)));
      if (subscriber.closed) {
        body.destroy();
        return;
      }
      body.on('end', () => subscriber.complete());
      listener = { pause: () => body.pause(), resume: () => body.resume() };
      body.on('data', (piece: Buffer) => subscriber.next(piece));
      backpressure.attach(listener);
    };
    get(left.signal).then(start, (error: unknown) => subscriber.error(asUnavailable(error)));
    return () => {
      if (listener !== undefined) backpressure.detach(listener);
      left.abort();
    };
  });
