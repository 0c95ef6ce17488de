/** Which routes have a method in the SDKs, by path; all others are plain HTTP. */

export interface SdkCall {
  readonly client: 'openai' | 'anthropic';
  readonly method: string;
  /** Of one event of a stream: the condition, and the text to print. */
  readonly python: readonly [condition: string, text: string];
  readonly typescript: readonly [condition: string, text: string];
}

export const sdkCalls: Readonly<Record<string, SdkCall>> = {
  '/chat/completions': {
    client: 'openai',
    method: 'chat.completions.create',
    python: ['event.choices', 'event.choices[0].delta.content or ""'],
    typescript: ['event.choices.length > 0', 'event.choices[0]?.delta.content ?? ""'],
  },
  '/responses': {
    client: 'openai',
    method: 'responses.create',
    python: ['event.type == "response.output_text.delta"', 'event.delta'],
    typescript: ['event.type === "response.output_text.delta"', 'event.delta'],
  },
  '/messages': {
    client: 'anthropic',
    method: 'messages.create',
    python: ['event.type == "content_block_delta" and event.delta.type == "text_delta"', 'event.delta.text'],
    typescript: [
      'event.type === "content_block_delta" && event.delta.type === "text_delta"',
      'event.delta.text',
    ],
  },
  '/embeddings': {
    client: 'openai',
    method: 'embeddings.create',
    python: ['', ''],
    typescript: ['', ''],
  },
};

/** The SDK of that format adds `/v1` itself. */
export const sdkBase = (client: SdkCall['client'], base: string): string =>
  client === 'anthropic' ? base.replace(/\/v1$/, '') : base;
