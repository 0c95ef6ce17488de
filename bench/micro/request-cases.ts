/** Micro-benchmarks of request parsing: bytes to JSON to a validated request. */

import { validate } from '../../pipelines/core/validate.ts';
import { ChatRequest } from '../../schemas/chat/request.ts';
import type { MicroCase } from './run.ts';
import { requestBody } from './samples.ts';

const bytes = requestBody(false);
const text = bytes.toString();
const parsed: unknown = JSON.parse(text);
const check = validate(ChatRequest);

export const requestCases: readonly MicroCase[] = [
  { name: 'request: bytes to text', run: () => bytes.toString() },
  { name: 'request: JSON.parse', run: () => JSON.parse(text) },
  { name: 'request: validation', run: () => check(parsed) },
];
