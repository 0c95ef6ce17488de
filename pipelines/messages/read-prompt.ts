/** Reads the prompt of a messages request: 400 names the field. */
import type { CountTokensRequest } from '../../schemas/messages/request.ts';
import type { AnswerFormat, ChatCall } from '../../src/ports/engines/chat.ts';
import type { ThinkingSettings } from '../conversation/chat-task.ts';
import { plainText } from '../conversation/chat-task.ts';
import { type Conversation, continueFinal } from '../conversation/continue-final.ts';
import type { MediaCollector, PendingMedia } from '../conversation/media-parts.ts';
import { readSchema } from '../conversation/read-schema.ts';
import { invalid } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import { readMessagesThinking } from './read-thinking.ts';
import { readMessagesToolChoice, readMessagesTools } from './read-tools.ts';
import { readTurns, type Unseal } from './read-turns.ts';

/** All of a request but its limits: what counting its tokens needs. */
interface MessagesPrompt
  extends Pick<ChatCall, 'messages' | 'tools' | 'toolChoice' | 'parallelToolCalls' | 'format'> {
  /** The final message is the assistant's and is continued. */
  readonly continued: boolean;
  readonly thinking: ThinkingSettings;
}

/**
 * Images and documents are added to `pending`. `maxTokens` is undefined where nothing is to be generated. Thinking that
 * `unseal` does not know is left out.
 */
export const readMessagesPrompt = (
  { body, model, variant }: ResolvedRequest<CountTokensRequest>,
  pending: PendingMedia[],
  maxTokens: number | undefined,
  unseal: Unseal = () => undefined,
): MessagesPrompt => {
  const { messages, continued } = readConversation(body, { model, pending }, unseal);
  const tools = readMessagesTools(body.tools);
  return {
    messages,
    tools,
    continued,
    thinking: readMessagesThinking(body, model, { maxTokens, continued, express: variant === 'express' }),
    toolChoice: readMessagesToolChoice(body.tool_choice, tools),
    parallelToolCalls: body.tool_choice?.disable_parallel_tool_use === true ? false : undefined,
    format: readFormat(body),
  };
};

const readConversation = (body: CountTokensRequest, media: MediaCollector, unseal: Unseal): Conversation => {
  const messages = readTurns(body, media, unseal);
  const path = `messages[${body.messages.length - 1}]`;
  const final = messages.at(-1);
  if (final?.role === 'assistant' && final.toolCalls.length > 0)
    throw invalid(`${path}.content must not hold tool_use: a final assistant message is continued`);
  return continueFinal(messages, false, path);
};

const readFormat = ({ output_config, output_format }: CountTokensRequest): AnswerFormat => {
  const format = output_config?.format ?? output_format;
  if (format === undefined) return plainText;
  if (output_config?.format !== undefined && output_format !== undefined)
    throw invalid('output_format must not be set beside output_config.format');
  const path = `${output_config?.format === undefined ? 'output_format' : 'output_config.format'}.schema`;
  return { type: 'json_schema', name: 'answer', schema: readSchema(format.schema, path) };
};
