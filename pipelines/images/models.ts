/** GET /images/models: nothing in; the image models that are served, and what each takes, out. */
import { imageEntry } from '../../src/catalog/image-entry.ts';
import { imageSpecOf } from '../../src/images/spec.ts';
import { specifiedModels } from '../models/specified-models.ts';

export const imagesModels = specifiedModels('image', imageSpecOf, imageEntry);
