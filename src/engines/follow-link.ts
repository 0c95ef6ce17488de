/** A link that an engine answered with in; what is there out: asked of the engine itself where it is its own, else fetched as any address of strangers. */
import { catchError, Observable, type Subscriber, throwError } from 'rxjs';
import { type ApiError, fail } from '../errors.ts';
import { plainMedia } from '../media/media-data.ts';
import type { Flow } from '../ports/engine.ts';
import type { Media, MediaData } from '../ports/media.ts';
import type { EngineRequest } from './dispatch.ts';
import type { EngineHead, EngineReader } from './http-call.ts';
import type { ReplicaPool } from './pool.ts';
import type { Replica } from './replica.ts';
import { mostImageBytes } from './wire.ts';

export interface LinkSetting {
  readonly pool: ReplicaPool;
  /** Names and values by turns. */
  readonly headers: string[];
  /** Absent: strangers are not asked. */
  readonly media: Pick<Media, 'read'> | undefined;
}

export const followLink =
  ({ pool, headers, media }: LinkSetting): ((url: string, flow: Flow) => Observable<MediaData>) =>
  (url, flow) => {
    const own = pool.own(url);
    if (own !== undefined) return fromEngine(own, headers, flow);
    if (media === undefined) return throwError(() => lost(new Error('The link leads elsewhere')));
    return media
      .read(url, { field: 'The link', maxBytes: mostImageBytes })
      .pipe(catchError((cause: unknown) => throwError(() => lost(cause))));
  };

const fromEngine = (
  { replica, path }: { readonly replica: Replica; readonly path: string },
  headers: string[],
  flow: Flow,
): Observable<MediaData> =>
  new Observable((subscriber) => {
    const request: EngineRequest = {
      method: 'GET',
      path,
      fromRoot: true,
      headers: [...headers, 'x-request-id', flow.requestId],
      body: null,
      streams: false,
      explain: () => undefined,
    };
    const call = replica.dispatch.send(request, flow, new FileReader(subscriber));
    return () => call.close();
  });

const lost = (cause: unknown) =>
  fail('engine_unreachable', 'The image that the engine made cannot be fetched', { cause });

class FileReader implements EngineReader {
  readonly #subscriber: Subscriber<MediaData>;
  readonly #pieces: Buffer[] = [];
  #size = 0;
  #type = '';

  constructor(subscriber: Subscriber<MediaData>) {
    this.#subscriber = subscriber;
  }

  head({ contentType }: EngineHead): void {
    this.#type = contentType;
  }

  bytes(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > mostImageBytes) this.#subscriber.error(lost(new Error('The file is too large')));
    else this.#pieces.push(Buffer.from(bytes));
  }

  end(): void {
    this.#subscriber.next(plainMedia(Buffer.concat(this.#pieces, this.#size), this.#type));
    this.#subscriber.complete();
  }

  error(cause: ApiError): void {
    this.#subscriber.error(lost(cause));
  }
}
