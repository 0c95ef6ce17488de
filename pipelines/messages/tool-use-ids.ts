/** Ids of tool calls: `call_…` to engines, `toolu_…` in the messages format, the same from turn to turn. */

const ours = 'call_';
const theirs = 'toolu_';

export const toToolUseId = (callId: string): string =>
  theirs + (callId.startsWith(ours) ? callId.slice(ours.length) : callId);

/** An id that some other service gave is left as it is. */
export const toCallId = (toolUseId: string): string =>
  toolUseId.startsWith(theirs) ? ours + toolUseId.slice(theirs.length) : toolUseId;
