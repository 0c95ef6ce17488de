/** GET /images/models/{author}/{slug}/endpoints: any of an image model's names in; its endpoint record out. */
import { defer, of } from 'rxjs';
import { imageEndpoints } from '../../src/catalog/image-entry.ts';
import { fail } from '../../src/errors.ts';
import { imageSpecOf } from '../../src/images/spec.ts';
import { jsonReply, type Pipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';

export const imagesModelEndpoints =
  (ports: Ports): Pipeline =>
  (exchange) =>
    defer(() => {
      const { author = '', slug = '' } = exchange.params;
      const model = ports.catalog.findPublic(author, slug); // 502 503
      const spec = model?.kind === 'image' ? imageSpecOf(model) : undefined;
      if (model === undefined || spec === undefined)
        throw fail('not_found', `No image model named "${`${author}/${slug}`.slice(0, 200)}" is served`);
      return of(jsonReply(imageEndpoints(model, spec)));
    });
