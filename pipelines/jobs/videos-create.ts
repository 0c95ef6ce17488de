/** POST /videos: a prompt and what it should become, as JSON or a form, in; the job that renders it out, at once. */
import { map } from 'rxjs';
import { VideoFields } from '../../schemas/videos.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit } from '../core/admit.ts';
import { parseJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { answerJob } from './job-response.ts';
import { isForm, readVideoForm } from './read-video-form.ts';
import { readVideoRequest } from './read-video-request.ts';
import { checkCallback, startJob } from './start-job.ts';

const videoFields = validate(VideoFields);

export const videosCreate =
  (ports: Ports): KeyedPipeline =>
  (exchange, caller) =>
    // 400 413
    (isForm(exchange) ? readVideoForm(exchange) : parseJson(ports.offload, exchange)).pipe(
      map(videoFields), // 400 names the field
      resolveModel(ports.catalog, 'video'), // 404
      map(readVideoRequest), // 400 names the field, 503 without a spec
      map(checkCallback(ports.allowPrivateUrls)), // 400
      // 429 after waiting its turn; the slot is held until the job is there, not while it renders
      admit(ports.admission, exchange, caller, (task) => startJob(ports, exchange, caller, task)), // 400 413 for media
      map((view) => answerJob(ports, exchange, view, 202)),
    );
