/** Fetches the file behind a link that an engine responded with. */
import { catchError, Observable, throwError } from 'rxjs';
import { fail } from '../../errors.ts';
import { plainMedia } from '../../media/media-data.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { Media, MediaData } from '../../ports/media.ts';
import type { Shared } from '../../ports/shared.ts';
import { bodyReader, type EngineCalls, wholeBody } from '../calls.ts';
import type { EngineHead } from '../engine-call.ts';
import { mostImageBytes } from '../wire.ts';

/** Without `media`, links to other hosts are not followed. */
export const followLink =
  (calls: EngineCalls, media: Shared<Pick<Media, 'read'>> | undefined) =>
  (url: string, flow: Flow): Observable<MediaData> =>
    fileBehind(calls, media, url, flow).pipe(
      catchError((cause: unknown) => {
        throw fail('engine_unreachable', 'The image that the engine made cannot be fetched', { cause });
      }),
    );

/** From the engine itself where the link is its own; otherwise as safely as any address on the internet. */
const fileBehind = (
  { pool, headers }: EngineCalls,
  media: Shared<Pick<Media, 'read'>> | undefined,
  url: string,
  flow: Flow,
): Observable<MediaData> => {
  const own = pool.own(url);
  if (own === undefined)
    return (
      media?.for(flow.subscription).read(url, { field: 'The link', maxBytes: mostImageBytes }) ??
      throwError(() => new Error('The link leads to another host'))
    );
  return new Observable((subscriber) => {
    const request = {
      method: 'GET',
      path: own.path,
      fromRoot: true,
      headers: headers.noBody,
      body: null,
      streams: false,
      readError: (status: number) => ({ status, message: undefined }),
    } as const;
    const reader = bodyReader(fileDecoder(), subscriber, { limit: mostImageBytes });
    const call = own.replica.dispatch.send(request, flow, reader);
    return () => call.close();
  });
};

const fileDecoder = () => {
  const body = wholeBody();
  let type = '';
  return {
    ...body,
    head: ({ contentType }: EngineHead): void => {
      type = contentType;
    },
    end: (): MediaData => plainMedia(body.end(), type),
  };
};
