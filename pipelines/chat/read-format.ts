/** `response_format` of the chat dialect in; ours out. 400 for a strict schema outside the strict subset. */
import type { ChatRequest } from '../../schemas/chat.ts';
import type { AnswerFormat } from '../../src/ports/chat.ts';
import { freeJson } from '../conversation/free-json.ts';
import { invalid } from '../core/checks.ts';
import { checkStrict } from './strict-schema.ts';

export const readFormat = (format: ChatRequest['response_format']): AnswerFormat => {
  if (format === undefined) return plainText;
  if (format.type !== 'json_schema') return { type: format.type };
  if (format.json_schema === undefined) throw invalid('response_format.json_schema is required');
  const { name, description, strict } = format.json_schema;
  const schema = freeJson(format.json_schema.schema ?? {});
  if (strict === true) checkStrict(schema, 'response_format.json_schema.schema');
  return {
    type: 'json_schema',
    name,
    schema,
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  };
};

const plainText: AnswerFormat = { type: 'text' };
