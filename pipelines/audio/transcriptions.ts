/** POST /audio/transcriptions: a recording in; its text out, whole or as it is recognised. */
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit } from '../core/admit.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { callTranscription } from './call-transcription.ts';
import { frameTranscription } from './frame-transcription.ts';
import { meterSeconds } from './meter-seconds.ts';
import { readTranscriptionBody } from './read-transcription-body.ts';
import { readTranscriptionRequest } from './read-transcription-request.ts';

const route = '/audio/transcriptions';

export const audioTranscriptions =
  (ports: Ports): KeyedPipeline =>
  (exchange, caller) =>
    // JSON or a form: 400 names the field, 413
    readTranscriptionBody(ports, exchange).pipe(
      resolveModel(ports.catalog, 'transcription'), // 404
      readTranscriptionRequest(ports.codec), // 400 names the field; the recording is really read
      // 429 after waiting its turn; the slot is held while the rest runs
      admit(ports.admission, exchange, caller, (task, lease) =>
        // 502 503 504
        callTranscription(ports, exchange, caller, task).pipe(
          // one usage event, however it ends; who leaves before anything was said pays nothing
          meterSeconds(ports.usage, { exchange, caller, route, task, lease }, (answered) =>
            answered ? task.seconds : 0,
          ),
          frameTranscription(task), // pieces of text → one answer, or events
        ),
      ),
    );
