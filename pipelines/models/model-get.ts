/** GET /model/{author}/{slug}: any of a public model's names in; its entry, wrapped as `data`, out. */
import { defer, of } from 'rxjs';
import { entryText } from '../../src/catalog/entry.ts';
import { fail } from '../../src/errors.ts';
import { jsonTextReply, type Pipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';

/** A former id is answered with its replacement's entry at once: a redirect would say the same in two round trips. */
export const modelGet =
  (ports: Ports): Pipeline =>
  (exchange) =>
    defer(() => {
      const { author = '', slug = '' } = exchange.params;
      const model = ports.catalog.findPublic(author, slug); // 502 503
      if (model === undefined)
        throw fail('not_found', `No model named "${`${author}/${slug}`.slice(0, 200)}"`);
      return of(jsonTextReply(`{"data":${entryText(model)}}`));
    });
