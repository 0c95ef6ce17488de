/** Plans one answer to a chat call: reasoning, text, tool calls and finish. */
import { fail } from '../../errors.ts';
import type { ChatCall } from '../../ports/engines/chat.ts';
import { splitTokens } from '../../tokens/simulator.ts';
import { hashText, Random } from '../random.ts';
import { SchemaProblem } from '../schema/budget.ts';
import { schemaInstance } from '../schema/instance.ts';
import { type Section, SimulatedChoice } from './completion.ts';
import type { Conversation } from './conversation.ts';
import { answerText, continuation, statement, thoughtText } from './prose.ts';
import { type ThinkingModel, thinkingTokens } from './thinking.ts';
import { makeToolCalls } from './tool-calls.ts';

/** Thinking, text and tools draw from generators of their own: the text is the same with thinking and without. */
export function planAnswer(
  model: ThinkingModel,
  call: ChatCall,
  conversation: Conversation,
  seed: number,
  choice: number,
): SimulatedChoice {
  const { directives } = conversation;
  const random = new Random(hashText(`answer ${choice}`, seed));
  const sections: Section[] = [];
  const thinking = thinkingTokens(model, call, conversation);
  if (thinking > 0) {
    const whole = thoughtText(conversation.topics, random.fork('thinking'), thinking);
    const { begunThought = '' } = conversation;
    // Thinking that is not ours is over.
    sections.push({ type: 'reasoning', tokens: resume(whole, begunThought) ?? splitTokens('') });
  }
  const isBegun = call.continueFinal && conversation.begunThought === undefined;
  const calls = isBegun ? [] : makeToolCalls(call, conversation, random.fork('tools'));
  if (calls.length === 0 || directives.text !== undefined) {
    sections.push({ type: 'text', tokens: textTokens(call, conversation, random.fork('text')) });
  }
  for (const { id, name, arguments: text } of calls) {
    sections.push({ type: 'call', id, name, tokens: splitTokens(text) });
  }
  return new SimulatedChoice({
    choice,
    sections,
    finish: directives.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    maxTokens: call.maxTokens,
    stop: call.stop,
    logprobs: call.logprobs && { top: call.logprobs.top, random: random.fork('logprobs') },
  });
}

/** Without a seed the conversation is the seed: the same question has the same answer, unless chance is asked for. */
export function seedOf(call: ChatCall, conversation: Conversation): number {
  const seed = conversation.directives.seed ?? call.sampling.seed;
  if (seed === 'random') return Math.floor(Math.random() * 0x100000000);
  return seed === undefined ? conversation.hash : hashText(`seed ${seed}`, conversation.hash);
}

/** A begun answer is carried on where it left off if it is ours, and as well as can be if it is not. */
function textTokens(call: ChatCall, conversation: Conversation, random: Random): Iterator<string, undefined> {
  const { begun, topics, directives } = conversation;
  const whole = wholeText(call, conversation, random);
  if (begun === '') return whole;
  return resume(whole, begun) ?? continuation(begun, topics, random.fork(begun), directives.tokens);
}

function wholeText(call: ChatCall, conversation: Conversation, random: Random): Iterator<string, undefined> {
  const { directives, question, topics } = conversation;
  if (directives.text !== undefined) return splitTokens(directives.text);
  if (directives.echo) return splitTokens(question);
  switch (call.format.type) {
    case 'text':
      return answerText(conversation, random, directives.tokens);
    case 'json_object':
      return splitTokens(JSON.stringify({ topics, answer: statement(topics, random) }));
    case 'json_schema':
      return splitTokens(JSON.stringify(instanceOf(call.format.schema, conversation, random)));
  }
}

function instanceOf(schema: unknown, conversation: Conversation, random: Random): unknown {
  try {
    return schemaInstance(schema, random, conversation, conversation.schemaWork);
  } catch (thrown) {
    if (!(thrown instanceof SchemaProblem)) throw thrown;
    throw fail('invalid_request', `response_format.json_schema.schema ${thrown.message}`, { cause: thrown });
  }
}

/** What is left to say of an answer; undefined when `begun` is not its start. */
function resume(tokens: Iterator<string, undefined>, begun: string): Iterator<string, undefined> | undefined {
  let at = 0;
  while (at < begun.length) {
    const token = tokens.next().value;
    if (token === undefined) return undefined;
    const said = Math.min(token.length, begun.length - at);
    if (!begun.startsWith(token.slice(0, said), at)) return undefined;
    at += said;
    if (said < token.length) return preceded(token.slice(said), tokens);
  }
  return tokens;
}

function* preceded(first: string, rest: Iterator<string, undefined>): Generator<string, undefined> {
  yield first;
  for (let next = rest.next().value; next !== undefined; next = rest.next().value) yield next;
}
