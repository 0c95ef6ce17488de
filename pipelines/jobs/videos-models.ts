/** GET /videos/models: the video models that are served, with what each takes, out. */
import type { Model } from '../../schemas/catalog.ts';
import { type VideoModels, videoSettings } from '../../schemas/videos.ts';
import { type VideoSpec, validVideoSpec } from '../../src/video/spec.ts';
import { specifiedModels } from '../models/specified-models.ts';
import { declaredSettings } from './render-settings.ts';

type Entry = VideoModels['data'][number];

const entryOf = (model: Model, spec: VideoSpec): Entry => {
  const tables = Object.values(spec.resolutions).map(({ sizes }) => sizes);
  const { min, max } = spec.duration;
  const takes = (parameter: string): boolean => model.supported_parameters.includes(parameter);
  return {
    id: model.id,
    canonical_slug: model.id,
    name: model.name,
    description: model.description,
    created: model.created,
    ...(model.hugging_face_id === undefined ? {} : { hugging_face_id: model.hugging_face_id }),
    supported_resolutions: Object.keys(spec.resolutions),
    supported_aspect_ratios: Object.keys(tables[0] ?? {}),
    supported_sizes: tables.flatMap((sizes) => Object.values(sizes)),
    supported_durations: Array.from({ length: max - min + 1 }, (_, index) => min + index),
    supported_frame_images: takes('frame_images') ? spec.frame_images : null,
    generate_audio: takes('generate_audio'),
    seed: takes('seed'),
    creativity: null,
    upscale_factor: null,
    allowed_passthrough_parameters: [...declaredSettings(videoSettings, model)],
    pricing_skus: { second: model.pricing.completion },
  };
};

export const videosModels = specifiedModels('video', validVideoSpec, entryOf);
