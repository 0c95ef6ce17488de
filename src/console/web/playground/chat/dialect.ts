/** A format of conversations: how a request is written, and how an event of its stream is read. */
import type { ServerEvent } from '../../api/sse.ts';
import type { JsonObject } from '../call.ts';
import type { Answer } from './answer.ts';
import { chatCompletions } from './chat-completions.ts';
import type { Settings, Turn } from './conversation.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

export interface Dialect {
  readonly id: string;
  readonly title: string;
  readonly path: string;
  readonly body: (turns: readonly Turn[], settings: Settings) => JsonObject;
  readonly read: (event: ServerEvent, answer: Answer) => void;
}

export const dialects: readonly Dialect[] = [
  { id: 'chat', title: 'Chat completions', path: '/chat/completions', ...chatCompletions },
  { id: 'messages', title: 'Messages', path: '/messages', ...messages },
  { id: 'responses', title: 'Responses', path: '/responses', ...responses },
];
