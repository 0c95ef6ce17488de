/** POST /images, /images/generations and /images/edits: images, or links to them. */
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit, withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { compose } from '../core/compose.ts';
import { readable, withFallbacks } from '../core/fallbacks.ts';
import { count, record } from '../core/meter.ts';
import { type FramedReply, writePaced } from '../core/paced-bytes.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { imageAccount } from './account.ts';
import { decodeImages, type InspectedImage, readHeads, storeImages } from './drawn-images.ts';
import { frameImages } from './frame.ts';
import { loadImages } from './load-images.ts';
import { readImageBody } from './read-body.ts';
import { type ImageRoute, readImageRequest } from './read-request.ts';

export const images = (ports: Ports, route: ImageRoute): KeyedPipeline =>
  compose(
    readImageBody(ports.offload), // 400 413
    resolveModel(ports.catalog, 'image'), // 404
    readable(readImageRequest(ports, route)), // 400 names the field; 503 without a capability spec
    // 429 after waiting its turn; the slot is held while the rest runs
    admit(
      ports.admission,
      compose(
        withFallbacks(ports, loadImages(ports)), // 400 413 names the picture
        withAccount(
          ports,
          imageAccount(route.path),
          compose(
            callEngine(ports, 'image'), // 502 503 504
            readHeads, // 502 without an image
            decodeImages(ports.pictures), // 502 with a damaged one
            count<InspectedImage>(),
            storeImages(ports.blobs), // 503
            frameImages(), // images → JSON, or a stream of events
            record<FramedReply>(ports.usage), // one usage event, however it ends
            writePaced, // as fast as the client reads
          ),
        ),
      ),
    ),
  );
