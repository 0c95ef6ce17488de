/** GET /images/models and /images/models/{author}/{slug}/endpoints: what the served image models accept. */
import type { Model } from '../../schemas/catalog.ts';
import type { ImageCapabilities } from '../../schemas/image-capabilities.ts';
import { imageEndpoints, imageEntry } from '../../src/catalog/image-entry.ts';
import { fail } from '../../src/errors.ts';
import { imageSpecOf } from '../../src/images/spec.ts';
import type { Catalog } from '../../src/ports/catalog.ts';
import { type Exchange, jsonReply, type Pipeline, type Reply } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { compose } from '../core/compose.ts';
import { specifiedModels } from '../models/list.ts';

export const imagesModels = specifiedModels('image', imageSpecOf, imageEntry);

export const imagesModelEndpoints = (ports: Ports): Pipeline =>
  compose(
    findImageModel(ports.catalog), // 404 502 503
    replyEndpoints,
  );

interface SpecifiedModel {
  readonly model: Model;
  readonly spec: ImageCapabilities;
}

const findImageModel =
  (catalog: Catalog) =>
  ({ params: { author = '', slug = '' } }: Exchange): SpecifiedModel => {
    const model = catalog.findPublic(author, slug);
    const spec = model?.kind === 'image' ? imageSpecOf(model) : undefined;
    if (model === undefined || spec === undefined)
      throw fail('not_found', `No image model named "${`${author}/${slug}`.slice(0, 200)}" is served`);
    return { model, spec };
  };

const replyEndpoints = ({ model, spec }: SpecifiedModel): Reply => jsonReply(imageEndpoints(model, spec));
