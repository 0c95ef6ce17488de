/** The quirks of real engines that the simulator can imitate. */

export const quirkNames = [
  /** Thinking under `reasoning_content`. */
  'reasoning_content',
  /** Thinking under `reasoning` and `reasoning_content` at once. */
  'reasoning_both',
  /** Thinking inside the text, between `<think>` and `</think>`. */
  'think_tags',
  /** `tool_calls: []` where no tool is called. */
  'empty_tool_calls',
  /** Nulls for the fields a delta does not have. */
  'null_deltas',
  /** A tool call in one piece. */
  'whole_tool_calls',
  /** A tool call in one piece, its arguments an object instead of text. */
  'arguments_object',
  /** Tool call ids without the usual `call_`. */
  'plain_tool_ids',
  /** No tool call ids at all. */
  'no_tool_ids',
  /** Finish reason `stop` although tools are called. */
  'stop_for_tools',
  /** Never any usage. */
  'no_usage',
  /** Usage so far on every chunk. */
  'usage_every_chunk',
  /** `usage: null` on every chunk but the one that has it. */
  'null_usage',
  /** The role on every chunk. */
  'role_every_chunk',
  /** No chunk with the role alone. */
  'no_role',
  /** Packets end in the middle of a character, or at least of an event. */
  'split_utf8',
  /** Lines end in CR LF. */
  'crlf',
  /** No space after `data:`. */
  'tight_data',
  /** A comment before every event. */
  'comments',
  /** One event that is no JSON, after the first. */
  'bad_event',
  /** The stream ends without `[DONE]`. */
  'no_done',
  /** The last event lacks the blank line after it. */
  'unterminated',
  /** Errors are HTML pages, as from a proxy in front. */
  'html_errors',
] as const;

export type Quirk = (typeof quirkNames)[number];
export type Quirks = ReadonlySet<Quirk>;

/** Names with commas between them; throws for one that is unknown. */
export function readQuirks(text: string): Quirks {
  const names = text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  for (const name of names) {
    if (!isQuirk(name)) throw new RangeError(`unknown quirk "${name}"; there are ${quirkNames.join(', ')}`);
  }
  return new Set(names.filter(isQuirk));
}

function isQuirk(name: string): name is Quirk {
  return (quirkNames as readonly string[]).includes(name);
}
