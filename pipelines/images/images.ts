/** POST /images, /images/generations and /images/edits: a prompt and perhaps pictures in; images, or links to them, out. */
import { map, pipe } from 'rxjs';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit } from '../core/admit.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { callImages } from './call.ts';
import { tellBackground } from './detect-background.ts';
import { frameImages } from './frame.ts';
import { keepImages } from './keep.ts';
import { meterImages } from './meter.ts';
import { parseImageBody } from './parse-body.ts';
import { readImageInputs } from './read-inputs.ts';
import { type ImageRoute, readImageRequest } from './read-request.ts';

/** One implementation: the routes differ in how images are given unless told. */
export const imageRoutes = {
  create: { path: '/images', responseFormat: 'b64_json' },
  generations: { path: '/images/generations', responseFormat: 'url' },
  edits: { path: '/images/edits', responseFormat: 'url', edits: true },
} as const satisfies Record<string, ImageRoute>;

export const images = (ports: Ports, route: ImageRoute): KeyedPipeline => {
  const read = readImageRequest(route);
  return (exchange, caller) =>
    // 400 413
    parseImageBody(ports.offload, exchange).pipe(
      resolveModel(ports.catalog, 'image'), // 404
      map(read), // 400 names the field; 503 without a capability spec
      readImageInputs(ports), // 400 413 names the picture
      // 429 after waiting its turn; the slot is held while the rest runs
      admit(ports.admission, exchange, caller, (task, lease) =>
        // 502 503 504
        callImages(ports, exchange, caller, task).pipe(
          meterImages(
            ports.usage,
            { exchange, caller, route: route.path, task, lease }, // one usage event, however it ends
            pipe(
              tellBackground(ports.pictures), // 502
              keepImages(ports.blobs, task.stream ? 'b64_json' : task.responseFormat), // 503
            ),
          ),
          frameImages(exchange, task), // images → JSON, or a stream of events
        ),
      ),
    );
};
