/** Writes tool calls as JSON with the chosen quirks. */
import { fromJsonText, type JsonText, type Part } from '../../ports/engines/chat.ts';
import type { Quirks } from './quirks.ts';

type CallHead = Part & { readonly type: 'tool-call' };

/** A call whose arguments are still coming. */
export interface OpenCall {
  readonly head: CallHead;
  arguments: string;
}

/** The fields of a whole call, with an index in streams. */
export function callJson(call: OpenCall, quirks: Quirks, index?: number): string {
  return JSON.stringify({
    ...(index === undefined ? {} : { index }),
    ...idField(call.head, quirks),
    type: 'function',
    function: {
      name: call.head.name,
      arguments: quirks.has('arguments_object') ? parsed(call.arguments) : call.arguments,
    },
  });
}

/** The first delta of a call that comes in pieces. */
export function callHeadJson(head: CallHead, quirks: Quirks): string {
  const target = { name: head.name, arguments: '' };
  return JSON.stringify({ index: head.call, ...idField(head, quirks), type: 'function', function: target });
}

export const callPieceJson = (call: number, text: JsonText): string =>
  `{"index":${call},"function":{"arguments":"${text}"}}`;

export function addArguments(call: OpenCall | undefined, text: JsonText): void {
  if (call !== undefined) call.arguments += fromJsonText(text);
}

function idField({ id }: CallHead, quirks: Quirks): { id?: string } {
  if (quirks.has('no_tool_ids')) return {};
  return { id: quirks.has('plain_tool_ids') ? id.replace(/^call_/, '') : id };
}

/** Arguments that were cut off are no JSON: they stay text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
