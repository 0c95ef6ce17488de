/** POST /audio/transcriptions: the text of a recording, whole or as it is recognised. */

import type { Transcribed } from '../../src/ports/engines/transcription.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { compose } from '../core/compose.ts';
import { readable, whenAnswered, withFallbacks } from '../core/fallbacks.ts';
import { count, record } from '../core/meter.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { admitResumable } from '../core/resumable.ts';
import { transcriptionAccount } from './account.ts';
import { frameTranscription } from './frame-transcription.ts';
import { loadRecording, readTranscriptionBody, readTranscriptionRequest } from './read-transcription.ts';

export const audioTranscriptions = (ports: Ports): KeyedPipeline =>
  compose(
    readTranscriptionBody(ports), // JSON or a form: 400 names the field, 413
    resolveModel(ports.catalog, 'transcription'), // 404
    readable(readTranscriptionRequest), // 400 names the field
    // 429 after waiting its turn; the slot is held while the rest runs, without its client if that is asked for
    admitResumable(
      ports,
      compose(
        withFallbacks(ports, loadRecording(ports)), // 400 413: the recording is really read
        withAccount(
          ports,
          transcriptionAccount,
          compose(
            callEngine(ports, 'transcribe'), // 502 503 504
            count<Transcribed>(),
            whenAnswered(frameTranscription), // parts of text → one response, or events
            record(ports.usage), // one usage event, however it ends
          ),
        ),
      ),
    ),
  );
