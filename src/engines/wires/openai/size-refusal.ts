/** Tells refusals that a smaller batch or a shorter text may avoid. */
import { asApiError } from '../../../errors.ts';

export const isAboutSize = (refusal: unknown): boolean => {
  const { message, cause, kind } = asApiError(refusal);
  // llama.cpp calls an input it cannot take a failure of its own.
  if (kind !== 'invalid_request' && kind !== 'engine_unreachable') return false;
  return size.test(message) || (cause instanceof Error && size.test(cause.message));
};

const size =
  /batch size|too (?:long|large|many|big)|(?:less|fewer|more|longer|larger|greater) than \d|context (?:length|size|window)|max(?:imum)?[ _](?:context|model|seq|input|length|allowed)|exceed/i;
