/** Converts ids of tool calls: `call_…` for engines, `toolu_…` in the messages format. */

const ours = 'call_';
const theirs = 'toolu_';

export const toToolUseId = (callId: string): string =>
  theirs + (callId.startsWith(ours) ? callId.slice(ours.length) : callId);

/** Ids of other services stay as they are. */
export const toCallId = (toolUseId: string): string =>
  toolUseId.startsWith(theirs) ? ours + toolUseId.slice(theirs.length) : toolUseId;
