/** POST /music: what a song should be like in; the job that renders it out, at once. */
import { map } from 'rxjs';
import { MusicRequest } from '../../schemas/music.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit } from '../core/admit.ts';
import { parseJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { answerJob } from './job-response.ts';
import { readMusicRequest } from './read-music-request.ts';
import { checkCallback, startJob } from './start-job.ts';

const musicRequest = validate(MusicRequest);

export const musicCreate =
  (ports: Ports): KeyedPipeline =>
  (exchange, caller) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      map(musicRequest), // 400 names the field
      resolveModel(ports.catalog, 'music'), // 404
      map(readMusicRequest), // 400 names the field, 503 without a spec
      map(checkCallback(ports.allowPrivateUrls)), // 400
      // 429 after waiting its turn; the slot is held until the job is there, not while it renders
      admit(ports.admission, exchange, caller, (task) => startJob(ports, exchange, caller, task)),
      map((view) => answerJob(ports, exchange, view, 202)),
    );
