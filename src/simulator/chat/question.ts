/** Finds the user's question in a conversation, among what agents add to it, and its `/sim` line. */
import type { ChatMessage } from '../../ports/engines/chat.ts';
import { type Directives, readDirectives } from '../directives.ts';

export interface Question {
  /** Of its message; -1 where there is none. */
  readonly index: number;
  /** What the user says, without the directive line. */
  readonly text: string;
  readonly directives: Directives;
}

const reminderStart = '<system-reminder>';
const reminderEnd = '</system-reminder>';
const directiveStart = '/sim';

export function findQuestion(messages: readonly ChatMessage[]): Question {
  const index = indexOfQuestion(messages);
  const said = userText(messages[index]);
  const at = directiveAt(said);
  if (at === -1) return { index, text: said, directives: { faults: [] } };
  const { directives, rest } = readDirectives(said.slice(at), `messages[${index}].content`);
  return { index, text: said.slice(0, at) + rest, directives };
}

/**
 * The last user message that says or shows something, or one right before it that has a directive line:
 * agents split what the user says into several messages, and follow tool results with reminders.
 */
function indexOfQuestion(messages: readonly ChatMessage[]): number {
  const last = messages.findLastIndex((message) => message.role === 'user' && saysSomething(message));
  if (last === -1) return messages.findLastIndex(({ role }) => role === 'user');
  for (let index = last; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role === 'assistant' || message?.role === 'tool') break;
    if (message?.role === 'user' && directiveAt(userText(message)) !== -1) return index;
  }
  return last;
}

function saysSomething(message: ChatMessage): boolean {
  return message.content.some(({ type }) => type !== 'text') || /\S/.test(userText(message));
}

/** Where its first directive line starts; -1: it has none. */
function directiveAt(text: string): number {
  let at = text.indexOf(directiveStart);
  while (at !== -1) {
    const after = at + directiveStart.length;
    const startsLine = at === 0 || text[at - 1] === '\n';
    if (startsLine && /^(?:\s|$)/.test(text.slice(after, after + 1))) return at;
    at = text.indexOf(directiveStart, after);
  }
  return -1;
}

/** Text parts are joined as an engine's wire joins them: the same conversation has the same answer over HTTP. */
function userText(message: ChatMessage | undefined): string {
  const texts = message?.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) ?? [];
  return withoutReminders(texts.join('\n'));
}

/** By position: a pattern would search a long text once for every reminder that is not closed. */
function withoutReminders(text: string): string {
  let kept = '';
  let from = 0;
  for (;;) {
    const start = text.indexOf(reminderStart, from);
    const end = start === -1 ? -1 : text.indexOf(reminderEnd, start);
    if (end === -1) return from === 0 ? text : kept + text.slice(from);
    kept += text.slice(from, start);
    from = end + reminderEnd.length;
  }
}
