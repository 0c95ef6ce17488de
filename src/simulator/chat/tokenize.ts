/** Simulates a tokenizer with a real vocabulary, a few milliseconds of work per tick. */
import { defer, map, type Observable, of, reduce } from 'rxjs';
import { fail } from '../../errors.ts';
import type { ChatMessage } from '../../ports/engines/chat.ts';
import type { DetokenizeCall, TokenizeCall, Tokenized, TokenizedChat } from '../../ports/engines/tokenize.ts';
import { loadVocabulary, pieceEnd } from '../../tokens/encoding.ts';
import { readDirectives } from '../directives.ts';
import { withFaults } from '../faults.ts';
import { inTicks } from '../in-ticks.ts';
import type { Ticker } from '../ticker.ts';

/** The rule that the simulator counts by has no ids; this vocabulary is the one most clients have. */
const tokenizer = 'cl100k_base';

export const simulateTokenize = (call: TokenizeCall, ticker: Ticker): Observable<Tokenized> =>
  defer(() => {
    const vocabulary = loadVocabulary(tokenizer);
    const text = typeof call.input === 'string' ? call.input : templateText(call.input);
    const pieces = piecesOf(text);
    const { directives } = readDirectives(typeof call.input === 'string' ? text : '', 'prompt');
    return inTicks(pieces.length, (index) => vocabulary.encode(pieces[index] ?? '')).pipe(
      reduce((tokens: number[], { results }) => {
        for (const piece of results) for (const token of piece) tokens.push(token);
        return tokens;
      }, []),
      map((tokens) => ({
        tokens,
        texts: call.withTexts ? tokens.map((token) => vocabulary.decode([token])) : undefined,
        maxLength: undefined,
      })),
      withFaults(directives, ticker),
    );
  });

export const simulateDetokenize = ({ tokens }: DetokenizeCall): Observable<string> =>
  defer(() => of(decoded(tokens)));

const decoded = (tokens: readonly number[]): string => {
  const unknown = tokens.findIndex((token) => token > largestId);
  if (unknown >= 0) throw fail('invalid_request', `tokens[${unknown}] is not in the vocabulary of the model`);
  return loadVocabulary(tokenizer).decode(tokens);
};

/** Of the vocabulary without its special tokens. */
const largestId = 100_255;

/** None at all for an empty text is one empty piece. */
const piecesOf = (text: string): readonly string[] => {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces.length === 0 ? [''] : pieces;
};

/** In the manner of chat templates. */
const templateText = ({ messages, tools, addGenerationPrompt }: TokenizedChat): string =>
  [
    ...(tools.length > 0 ? [turn('tools', JSON.stringify(tools))] : []),
    ...messages.map((message) => turn(message.role, textOf(message))),
    ...(addGenerationPrompt ? ['<|im_start|>assistant\n'] : []),
  ].join('');

const turn = (role: string, text: string): string => `<|im_start|>${role}\n${text}<|im_end|>\n`;

const textOf = (message: ChatMessage): string => {
  const texts = message.content.map((part) => (part.type === 'text' ? part.text : ''));
  const calls = message.role === 'assistant' ? message.toolCalls.map((call) => JSON.stringify(call)) : [];
  return [...texts, ...calls].join('\n');
};
