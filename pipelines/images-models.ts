/** GET /images/models: nothing in; the image models that are served, and what each takes, out. */
import { defer, of } from 'rxjs';
import { imageEntry } from '../src/catalog/image-entry.ts';
import { imageSpecOf } from '../src/images/spec.ts';
import { jsonAnswer, type Pipeline } from '../src/ports/exchange.ts';
import type { Ports } from '../src/ports/ports.ts';

export const imagesModels =
  (ports: Ports): Pipeline =>
  () =>
    defer(() => {
      // 502 503
      const data = ports.catalog.list().flatMap((model) => {
        const spec = model.kind === 'image' ? imageSpecOf(model) : undefined;
        return spec === undefined ? [] : [imageEntry(model, spec)];
      });
      return of(jsonAnswer({ data }));
    });
