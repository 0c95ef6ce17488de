/** Checks a chat server: a whole response, a stream, a bad request and a disconnect. */
import { identity, type MonoTypeOperatorFunction, tap } from 'rxjs';
import { type ChatCall, fromJsonText, type Part, type Parts } from '../ports/engines/chat.ts';
import { checkBadRequest, checkDisconnect } from './every-kind.ts';
import { attempt, type Finding, Note } from './finding.ts';
import type { Target } from './target.ts';

const callOf = (text: string, stream: boolean, maxTokens: number): ChatCall => ({
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  stream,
  maxTokens,
  n: 1,
  continueFinal: false,
  thinking: { effort: undefined, budget: undefined },
  sampling: {},
  stop: [],
  logprobs: undefined,
  tools: [],
  toolChoice: 'auto',
  parallelToolCalls: undefined,
  format: { type: 'text' },
  user: undefined,
});

const question = 'Count from one to twenty in words.';

export async function* checkChat(target: Target): AsyncGenerator<Finding> {
  const { wire, model, row } = target;
  let whole: readonly Part[] = [];
  yield await attempt('whole response', async () => {
    const parts = await chat(target, callOf(question, false, 128));
    const details = said(parts);
    whole = parts;
    return details;
  });
  const times: number[] = [];
  let streamed: readonly Part[] = [];
  yield await attempt('stream', async () => {
    const begun = Date.now();
    const seen = tap<Parts>(() => times.push(Date.now() - begun));
    const parts = await chat(target, callOf(question, true, 128), seen);
    const details = said(parts);
    streamed = parts;
    if (times.length < 2) throw new Note('The stream comes in one piece: clients wait for its end');
    return `${details}, the first part after ${times[0]} ms, the last after ${times.at(-1)} ms`;
  });
  for (const [name, parts] of [
    ['usage', whole],
    ['usage of streams', streamed],
  ] as const)
    if (parts.length > 0)
      yield await attempt(name, async () => {
        const usage = parts.find((part) => part.type === 'usage')?.usage;
        if (usage === undefined) throw new Note('There is none: the gateway counts tokens itself');
        return `${usage.prompt} prompt tokens, ${usage.completion} completion tokens`;
      });
  if (wire.chat === undefined) return;
  const long = callOf('Write a story of three thousand words.', true, 4096);
  const request = wire.chat.encode(model, long, row);
  yield await checkBadRequest(target, request);
  yield await checkDisconnect(target, request);
}

const chat = async (
  target: Target,
  call: ChatCall,
  seen: MonoTypeOperatorFunction<Parts> = identity,
): Promise<readonly Part[]> =>
  (await target.call((engine, flow) => engine.chat?.(target.model, call, flow).pipe(seen))).flat();

/** Throws what the response failed with. */
const said = (parts: readonly Part[]): string => {
  for (const part of parts) if (part.type === 'failure') throw part.error;
  const text = parts
    .map((part) => (part.type === 'text' || part.type === 'reasoning' ? fromJsonText(part.text) : ''))
    .join('');
  const finish = parts.find((part) => part.type === 'finish');
  if (text.trim() === '') throw new Error('The response has no text');
  if (finish === undefined) throw new Error('The response has no finish_reason');
  return `“${shortened(text)}”, finish_reason ${finish.native ?? 'missing'}`;
};

const shortened = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
};
