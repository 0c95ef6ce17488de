/** Response bytes in the layout of vLLM: streamed tokens, their frames, and a non-streamed response. */

const created = 1_760_000_000;

/** Plain words, with the escapes and multi-byte characters of real responses. */
const words = [
  ' the',
  ' answer',
  ' is',
  ' written',
  ',',
  ' one',
  ' token',
  ' at',
  ' a',
  ' time',
  '.\n\n',
  ' "quoted"',
  ' naïve',
  ' 水',
  ' and',
  ' so',
  ' on',
].map((word) => JSON.stringify(word).slice(1, -1));

/** Text of the n-th token between JSON quotes: a word, or filler of a given size in bytes. */
export const tokenText = (index: number, size: number): string =>
  size === 0 ? (words[index % words.length] ?? '') : filler(size);

let lastFiller = '';
const filler = (size: number): string => {
  if (lastFiller.length !== size) lastFiller = 'lorem ipsum '.repeat(Math.ceil(size / 12)).slice(0, size);
  return lastFiller;
};

/** The prefix of every chunk of one response; built once per stream. */
export const chunkStart = (id: string, model: string): string =>
  `data: {"id":"chatcmpl-${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[`;

export const roleChunk = (start: string): string =>
  `${start}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}\n\n`;

export const tokenChunk = (start: string, text: string): string =>
  `${start}{"index":0,"delta":{"content":"${text}"},"logprobs":null,"finish_reason":null}]}\n\n`;

export const finishChunk = (start: string): string =>
  `${start}{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}]}\n\n`;

export const usageChunk = (start: string, prompt: number, completion: number): string =>
  `${start}],"usage":{"prompt_tokens":${prompt},"total_tokens":${prompt + completion},"completion_tokens":${completion}}}\n\n`;

export const doneFrame = 'data: [DONE]\n\n';

export const wholeAnswer = (
  id: string,
  model: string,
  prompt: number,
  tokens: number,
  size: number,
): string => {
  let text = '';
  for (let index = 0; index < tokens; index += 1) text += tokenText(index, size);
  return `{"id":"chatcmpl-${id}","object":"chat.completion","created":${created},"model":${JSON.stringify(model)},"choices":[{"index":0,"message":{"role":"assistant","reasoning_content":null,"content":"${text}","tool_calls":[]},"logprobs":null,"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":${prompt},"total_tokens":${prompt + tokens},"completion_tokens":${tokens},"prompt_tokens_details":null},"prompt_logprobs":null,"kv_transfer_params":null}`;
};
