/** Builds the bytes of a request in any format, with the engine's knobs in the prompt. */
import { type Knobs, writeKnobs } from '../knobs.ts';

/** Where a subject listens, and the headers and model it expects. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

const instructions =
  'You are a careful assistant. Answer in the language of the question, in full sentences, and say so when you do not know. Keep lists short and never invent a source.';
const question =
  'We are moving a service from one large machine to several small ones. Requests carry a body of a few kilobytes, answers are streamed over minutes, and some readers are slow. What should be measured before the move, what during it, and which three numbers tell earliest that something is wrong? Please explain the reasons too.';

export type Format = 'chat' | 'messages' | 'responses' | 'embeddings';

/** Other routes share the base URL of chat. */
const paths = { messages: '/v1/messages', responses: '/v1/responses', embeddings: '/v1/embeddings' } as const;

export const requestOf = (target: Target, format: Format, stream: boolean, knobs: Partial<Knobs>): Buffer => {
  const { model } = target;
  const content = `${writeKnobs(knobs)} ${question}`;
  const user = { role: 'user', content };
  const settings = { model, temperature: 0.7, stream };
  switch (format) {
    case 'chat':
      return chatRequest(target, stream, knobs);
    case 'messages':
      return httpRequest(
        { ...target, path: paths.messages },
        JSON.stringify({ ...settings, max_tokens: 2048, system: instructions, messages: [user] }),
      );
    case 'responses':
      return httpRequest(
        { ...target, path: paths.responses },
        JSON.stringify({ ...settings, max_output_tokens: 2048, instructions, input: [user] }),
      );
    case 'embeddings':
      return httpRequest(
        { ...target, path: paths.embeddings },
        JSON.stringify({ model, input: Array.from({ length: knobs.tokens ?? 1 }, () => content) }),
      );
  }
};

export const chatRequest = (target: Target, stream: boolean, knobs: Partial<Knobs>): Buffer =>
  httpRequest(
    target,
    chatBody(target.model, stream, [
      { role: 'system', content: instructions },
      { role: 'user', content: `${writeKnobs(knobs)} ${question}` },
    ]),
  );

/** A chat request with a body of about this many bytes, mostly images as data URIs of at most 20 MB each. */
export const uploadRequest = (target: Target, bytes: number): Buffer => {
  const pictureBytes = 20_000_000;
  const pictures = Math.ceil(bytes / pictureBytes);
  const url = `data:image/png;base64,${picture(Math.floor(bytes / pictures) - 100)}`;
  const content = [
    { type: 'text', text: writeKnobs({ tokens: 8 }) },
    ...Array.from({ length: pictures }, () => ({ type: 'image_url', image_url: { url } })),
  ];
  return httpRequest(target, chatBody(target.model, false, [{ role: 'user', content }]));
};

const chatBody = (model: string, stream: boolean, messages: readonly unknown[]): string =>
  JSON.stringify({ model, messages, temperature: 0.7, max_tokens: 2048, stream });

/** Starts like a PNG, for gateways that check the first bytes. */
const picture = (base64Length: number): string => {
  const header = Buffer.from('89504e470d0a1a0a0000000d49484452000004000000040008020000', 'hex');
  return Buffer.concat([
    header,
    Buffer.alloc(Math.floor((base64Length * 3) / 4) - header.length, 0x5a),
  ]).toString('base64');
};

const httpRequest = (target: Target, body: string): Buffer =>
  rawRequest('POST', target, Buffer.from(body), 'application/json');

/** Any request; one without a body has no content-length. */
export const rawRequest = (
  method: string,
  { port, path, headers }: Pick<Target, 'port' | 'path' | 'headers'>,
  body: Buffer | undefined,
  type: string | undefined,
): Buffer => {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    ...(type === undefined ? [] : [`content-type: ${type}`]),
    ...(body === undefined ? [] : [`content-length: ${body.length}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  return body === undefined ? head : Buffer.concat([head, body]);
};
