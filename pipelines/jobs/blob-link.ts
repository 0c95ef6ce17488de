/** GET /blobs/{name}: a link of ours in, signed and in time; the file it was made for out. */
import { defer, switchMap } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Pipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { openBlobLinks } from '../../src/signatures/blob-links.ts';
import { sendBlob } from './send-blob.ts';

export const blobLink = (ports: Ports): Pipeline => {
  const links = openBlobLinks(ports.state);
  return (exchange) => {
    const name = exchange.params.name ?? '';
    const query = new URLSearchParams(exchange.query);
    const expires = readSeconds(query.get('expires'));
    const isOurs = () => links.isOurs(name, expires, query.get('signature') ?? '');
    return defer(isOurs).pipe(
      switchMap((ours) => {
        const left = expires - Date.now() / 1000;
        // The same answer to both, so that nobody learns which names there are.
        if (!ours || left <= 0) throw fail('not_found', 'This link is not valid, or its time is over'); // 404
        return sendBlob(ports.blobs, exchange, name, {
          'cache-control': `private, max-age=${Math.floor(left)}`,
        });
      }),
    );
  };
};

const readSeconds = (text: string | null): number =>
  text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
