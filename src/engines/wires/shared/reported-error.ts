/** Maps the errors that engines report to ours. */
import { type ApiError, type ErrorKind, fail, firstLine } from '../../../errors.ts';
import { brokenOff } from '../../engine-error.ts';
import { isObject, type Json, tryParse } from './json.ts';

/** The failure an object carries: `{error: {…}}`, `{error: "…"}`, or vLLM's bare `{object: "error", …}`. */
export const reportedError = (value: Json): ApiError | undefined => {
  const error = value.error;
  if (isObject(error)) return errorOf(error, error.message, [error.code, error.type]);
  if (typeof error === 'string' && error !== '') return errorOf(value, error, [value.error_type]);
  if (value.object === 'error') return errorOf(value, value.message, [value.code, value.type]);
  return undefined;
};

/** The first known code counts. */
const errorOf = (cause: unknown, message: unknown, codes: readonly unknown[]): ApiError => {
  const [kind = 'engine_unreachable'] = codes.flatMap((code) => kindOf(code) ?? []);
  const line = typeof message === 'string' ? firstLine(message) : '';
  const words = line === '' ? 'The engine reported an error' : line;
  // What vLLM writes into its streams when its engine has died.
  return kind === 'engine_unreachable' ? brokenOff(words, cause) : fail(kind, words, { cause, param: null });
};

const kindOf = (code: unknown): ErrorKind | undefined =>
  typeof code === 'string' || typeof code === 'number' ? kinds.get(String(code).toLowerCase()) : undefined;

/** Statuses, as numbers or text, and the names that servers have for them. */
const kinds: ReadonlyMap<string, ErrorKind> = new Map([
  ['400', 'invalid_request'],
  ['413', 'invalid_request'],
  ['422', 'invalid_request'],
  ['validation', 'invalid_request'],
  ['badrequesterror', 'invalid_request'],
  ['invalid_request_error', 'invalid_request'],
  ['context_length_exceeded', 'invalid_request'],
  ['429', 'unavailable'],
  ['503', 'unavailable'],
  ['529', 'unavailable'],
  ['overloaded', 'unavailable'],
  ['overloaded_error', 'unavailable'],
  ['rate_limit_error', 'unavailable'],
  ['rate_limit_exceeded', 'unavailable'],
  ['504', 'timeout'],
  ['timeout_error', 'timeout'],
]);

/** The message inside an error response of any status, for the client; undefined when there is none. */
export const errorMessage = (body: string): string | undefined => {
  const value = tryParse(body);
  if (!isObject(value)) return undefined;
  const error = isObject(value.error) ? value.error.message : value.error;
  const detail = Array.isArray(value.detail) ? value.detail[0] : value.detail;
  const message = [error, value.message, isObject(detail) ? detail.msg : detail].find(
    (candidate) => typeof candidate === 'string' && candidate.trim() !== '',
  );
  return typeof message === 'string' ? firstLine(message) : undefined;
};
