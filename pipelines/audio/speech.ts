/** POST /audio/speech: speech from a text, as a file, as samples or as events. */
import { SpeechFields } from '../../schemas/speech.ts';
import type { Spoken } from '../../src/ports/engines/speech.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { withAccount } from '../core/admit.ts';
import { callEngine } from '../core/call-engine.ts';
import { compose } from '../core/compose.ts';
import { readable, withFallbacks } from '../core/fallbacks.ts';
import { count, record } from '../core/meter.ts';
import { type FramedReply, writePaced } from '../core/paced-bytes.ts';
import { parseJson, receiveJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { admitResumable } from '../core/resumable.ts';
import { validate } from '../core/validate.ts';
import { speechAccount } from './account.ts';
import { encodeSpeech } from './encode-speech.ts';
import { frameSpeech } from './frame-speech.ts';
import { loadVoice } from './load-voice.ts';
import { readSpeechRequest } from './read-speech-request.ts';

const speechFields = validate(SpeechFields);

export const audioSpeech = (ports: Ports): KeyedPipeline =>
  compose(
    receiveJson(), // 400 413
    parseJson(ports.offload), // 400 says where
    speechFields, // 400 names the field
    resolveModel(ports.catalog, 'speech'), // 404
    readable(readSpeechRequest), // 400 names the field
    // 429 after waiting its turn; the slot is held while the rest runs, without its client if that is asked for
    admitResumable(
      ports,
      compose(
        withFallbacks(ports, loadVoice(ports)), // 400 413: a clip is really read
        withAccount(
          ports,
          speechAccount,
          compose(
            callEngine(ports, 'speak'), // 502 503 504
            count<Spoken>(), // before speed changes its length
            encodeSpeech(ports.codec), // samples → the format and speed requested
            count<Buffer>(), // the first bytes for the client
            frameSpeech, // bytes → one file, a stream, or events
            record<FramedReply>(ports.usage), // one usage event, however it ends
            writePaced, // as fast as the client reads
          ),
        ),
      ),
    ),
  );
