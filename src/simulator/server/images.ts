/** Writes image responses of an OpenAI-like engine. */
import type { ServerResponse } from 'node:http';
import type { Observable, Subscription } from 'rxjs';
import { asApiError } from '../../errors.ts';
import type { Drawn } from '../../ports/engines/image.ts';
import { ConnectionLost } from '../faults.ts';
import type { Quirks } from './quirks.ts';
import { sendError } from './responses.ts';

/** All are drawn before the first byte: a failure is an answer of its own. */
export function answerImages(
  drawn: Observable<Drawn>,
  links: boolean,
  response: ServerResponse,
  quirks: Quirks,
): void {
  const images: Drawn[] = [];
  const drawing: Subscription = drawn.subscribe({
    next: (image) => images.push(image),
    error: (thrown: unknown) => {
      const error = asApiError(thrown);
      if (error.cause instanceof ConnectionLost) response.destroy();
      else sendError(response, error, quirks);
    },
    complete: () => send(images, links, response),
  });
  response.on('close', () => drawing.unsubscribe());
}

const send = (images: readonly Drawn[], links: boolean, response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(`{"created":${Math.floor(Date.now() / 1000)},"data":[`);
  for (const [at, { image }] of images.entries()) {
    const opening = links ? `{"url":"data:${image.mediaType};base64,` : '{"b64_json":"';
    response.write((at === 0 ? '' : ',') + opening);
    response.write(image.base64);
    response.write('"}');
  }
  response.end(']}');
};
