/** POST /audio/speech: a text in; its sound out, as a file, as samples while they are made, or as events. */
import { map } from 'rxjs';
import { SpeechFields } from '../../schemas/speech.ts';
import type { KeyedPipeline } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { admit } from '../core/admit.ts';
import { parseJson } from '../core/parse-json.ts';
import { resolveModel } from '../core/resolve-model.ts';
import { validate } from '../core/validate.ts';
import { callSpeech } from './call-speech.ts';
import { countSpeech, SpeechCount } from './count-speech.ts';
import { encodeSpeech } from './encode-speech.ts';
import { frameSpeech } from './frame-speech.ts';
import { meterSeconds } from './meter-seconds.ts';
import { readSpeechRequest } from './read-speech-request.ts';

const route = '/audio/speech';
const speechFields = validate(SpeechFields);

export const audioSpeech =
  (ports: Ports): KeyedPipeline =>
  (exchange, caller) =>
    // 400 413
    parseJson(ports.offload, exchange).pipe(
      map(speechFields), // 400 names the field
      resolveModel(ports.catalog, 'speech'), // 404
      readSpeechRequest(ports, exchange), // 400 names the field; a clip is really read
      // 429 after waiting its turn; the slot is held while the rest runs
      admit(ports.admission, exchange, caller, (task, lease) => {
        const count = new SpeechCount();
        // 502 503 504
        return callSpeech(ports, exchange, caller, task).pipe(
          countSpeech(count), // before speed changes it
          encodeSpeech(ports.codec, task), // samples → the format and speed asked for
          // one usage event, however it ends
          meterSeconds(ports.usage, { exchange, caller, route, task, lease }, () => count.seconds),
          frameSpeech(exchange, task, count), // sound → one answer, a stream, or events
        );
      }),
    );
