/** A checked request of the messages format in; the number of tokens its prompt takes out. 400 names the field. */
import { type OperatorFunction, switchMap } from 'rxjs';
import type { CountTokensRequest } from '../../schemas/messages.ts';
import type { Offload } from '../../src/ports/offload.ts';
import { countPrompt } from '../conversation/fit-context.ts';
import type { Reading } from '../conversation/read-media.ts';
import type { Asked } from '../core/resolve-model.ts';
import { readMessagesPrompt } from './read-prompt.ts';

export const countMessagesTokens = (offload: Offload): OperatorFunction<Asked<CountTokensRequest>, number> =>
  switchMap((asked) => {
    const readings: Reading[] = [];
    const prompt = readMessagesPrompt(asked, readings, undefined);
    // An image counts the same whatever it shows, so none is read.
    for (const reading of readings) reading.place({ type: 'image', mediaType: '', base64: '' });
    return countPrompt(offload, prompt, asked.model.tokenizer);
  });
