/** The body of a whole answer in, its parts out, all at once. */
import { fail } from '../../../errors.ts';
import type { Parts } from '../../../ports/chat.ts';
import { Answer, type AnswerOptions } from './answer.ts';

export const decodeWhole = (body: Buffer, options: AnswerOptions): Parts => {
  const answer = new Answer(options);
  answer.push(parsed(body));
  answer.end(true);
  if (answer.failure !== undefined) throw answer.failure;
  return answer.take();
};

/** Taking the text out before parsing, to spare its unescaping and escaping, was tried: the scan for its end costs more. */
const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw fail('engine_unreachable', 'The engine sent an answer that cannot be read', { cause });
  }
};
