/** Whatever stopped a render in; what its job says about it out: a code and a line that tells nothing of our inside. */
import { ApiError, firstLine } from '../errors.ts';
import { RenderError, type RenderErrorCode } from '../ports/render.ts';
import type { Failure } from './transitions.ts';

const codes: Partial<Record<ApiError['kind'], RenderErrorCode>> = {
  timeout: 'timeout',
  engine_unreachable: 'engine_unavailable',
  unavailable: 'engine_unavailable',
  overloaded: 'engine_unavailable',
  rate_limited: 'engine_unavailable',
  invalid_request: 'render_failed',
  unprocessable: 'render_failed',
};

export const failureOf = (reason: unknown): Failure => {
  if (reason instanceof RenderError) return { code: reason.code, message: line(reason.message) };
  if (reason instanceof ApiError) {
    const code = codes[reason.kind];
    if (code !== undefined) return { code, message: line(reason.message) };
  }
  return { code: 'internal_error', message: 'The render failed for an internal reason' };
};

const line = (message: string): string => firstLine(message) || 'The render failed';
