/** POST /videos, which starts a job that renders a video, and GET /videos/models. */
import type { Model } from '../../schemas/catalog.ts';
import { VideoFields, type VideoModels, videoSettings } from '../../schemas/videos.ts';
import type { Exchange, KeyedPipeline, KeyedRequest } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { type VideoSpec, validVideoSpec } from '../../src/video/spec.ts';
import { noAccount } from '../core/account.ts';
import { admit, withAccount } from '../core/admit.ts';
import { compose } from '../core/compose.ts';
import { type JsonObject, parseJson, receiveJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import type { Step } from '../core/stage.ts';
import { validate } from '../core/validate.ts';
import { specifiedModels } from '../models/list.ts';
import { replyJob } from './jobs.ts';
import { isForm, readVideoForm } from './read-video-form.ts';
import { readVideoRequest } from './read-video-request.ts';
import { declaredSettings } from './render-settings.ts';
import { checkCallback, startJob } from './start-job.ts';

const videoFields = validate(VideoFields);

export const videosCreate = (ports: Ports): KeyedPipeline =>
  compose(
    readBody(ports), // 400 413
    videoFields, // 400 names the field
    resolveModel(ports.catalog, 'video'), // 404
    readVideoRequest, // 400 names the field, 503 without a spec
    checkCallback(ports.allowPrivateUrls), // 400
    // 429 after waiting its turn; the slot is held until the job exists, not while it renders
    admit(
      ports.admission,
      compose(
        withAccount(
          ports,
          noAccount,
          compose(startJob(ports)), // 429 when it could exceed a budget, 400 413 for media, 503
        ),
      ),
    ),
    replyJob(ports, 202),
  );

/** JSON, or a form whose files are part of it. */
const readBody = ({ offload }: Pick<Ports, 'offload'>): Step<Exchange, JsonObject, KeyedRequest> => {
  const readJson = compose(receiveJson(), parseJson(offload, 'invalid_request', 'seed'));
  return (exchange, request) => (isForm(exchange) ? readVideoForm(exchange) : readJson(exchange, request));
};

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
