/** The tokenizer routes of vLLM and SGLang, of llama.cpp, and of another Sluice. */
import type { EngineRow } from '../../../../schemas/engines.ts';
import { fail } from '../../../errors.ts';
import type { TokenizeCall, TokenizedChat } from '../../../ports/engines/tokenize.ts';
import type { TokenizerWire, WireRequest } from '../../wire.ts';
import { isObject } from '../shared/json.ts';
import { type Pick, unreadable } from '../shared/json-picker.ts';
import { LargeMedia } from '../shared/large-media.ts';
import { encodeTool } from './encode.ts';
import { messageJson } from './encode-message.ts';
import { type Fields, failureFields, namedFields, pickingDecoder } from './fields.ts';

type TokenizerApi = NonNullable<EngineRow['tokenizer_api']>;

export const tokenizerWire: TokenizerWire = {
  encodeText: (model, call, api) =>
    request(api, '/tokenize', api === 'llama.cpp' ? llamaText(call) : plainText(model.served_as, call)),
  decodeTokens: ({ withTexts }) =>
    pickingDecoder(tokenFields, { fields: {} }, ({ fields }) => {
      const { tokens, token_strs: strings, max_model_len: maxLength } = fields;
      if (!Array.isArray(tokens)) throw unreadable(new Error('The engine gave no tokens'));
      const texts = withTexts ? textsOf(tokens, strings) : undefined;
      return {
        tokens: tokens.map(idOf),
        texts,
        maxLength: typeof maxLength === 'number' ? maxLength : undefined,
      };
    }),
  encodeTokens: (model, { tokens }, api) =>
    request(api, '/detokenize', api === 'llama.cpp' ? { tokens } : { model: model.served_as, tokens }),
  decodeText: () =>
    pickingDecoder(textFields, { fields: {} }, ({ fields }) => {
      const text = fields.prompt ?? fields.text ?? fields.content;
      if (typeof text !== 'string') throw unreadable(new Error('The engine gave no text'));
      return text;
    }),
};

/** Servers have these routes beside their `/v1`, but for a Sluice. */
const request = (api: TokenizerApi, path: string, body: object): WireRequest => ({
  path,
  fromRoot: api !== 'sluice',
  body: JSON.stringify(body),
});

const plainText = (model: string, { input, addSpecialTokens, withTexts }: TokenizeCall): object => ({
  model,
  ...(typeof input === 'string' ? { prompt: input } : encodeChat(input)),
  ...(addSpecialTokens !== undefined && { add_special_tokens: addSpecialTokens }),
  ...(withTexts && { return_token_strs: true }),
});

const encodeChat = ({ messages, tools, addGenerationPrompt }: TokenizedChat): object => ({
  messages: messages.map((message) => JSON.parse(messageJson(message, new LargeMedia())) as unknown),
  ...(tools.length > 0 && { tools: tools.map(encodeTool) }),
  add_generation_prompt: addGenerationPrompt,
});

const llamaText = ({ input, addSpecialTokens, withTexts }: TokenizeCall): object => {
  if (typeof input !== 'string')
    throw fail('invalid_request', 'messages cannot be tokenized by the engine of this model: send prompt');
  return { content: input, add_special: addSpecialTokens ?? true, with_pieces: withTexts };
};

const tokenFields: Pick<Fields> = {
  keys: new Map([...namedFields('tokens', 'token_strs', 'max_model_len'), ...failureFields]),
};
const textFields: Pick<Fields> = {
  keys: new Map([...namedFields('prompt', 'text', 'content'), ...failureFields]),
};

/** llama.cpp gives each token with its text where that was wanted. */
const idOf = (token: unknown): number => {
  const id = isObject(token) ? token.id : token;
  if (typeof id !== 'number' || !Number.isInteger(id)) throw unreadable(new Error('A token is no number'));
  return id;
};

const textsOf = (tokens: readonly unknown[], strings: unknown): readonly string[] => {
  const texts: readonly unknown[] = Array.isArray(strings)
    ? strings
    : tokens.map((token) => (isObject(token) ? token.piece : undefined));
  if (texts.length !== tokens.length) throw unreadable(new Error('Not every token has a text'));
  return texts.map(textOf);
};

/** A piece that is no whole character comes as its bytes. */
const textOf = (text: unknown): string => {
  if (typeof text === 'string') return text;
  if (Array.isArray(text)) return Buffer.from(text as number[]).toString();
  throw unreadable(new Error('A token has no text'));
};
