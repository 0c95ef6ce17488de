/** Sample messages requests, and helpers to read whole messages. */
import { Compile } from 'typebox/compile';
import { Message } from '../../schemas/messages/response.ts';

const isMessage = Compile(Message);

export const say = (content: string) => [{ role: 'user' as const, content }];
export const quote = (line: string) => say(`/sim rate=max text=${JSON.stringify(line)}\nGo on`);

export const messageOf = (answer: object): Message => {
  // The stream helper adds a field of its own, and `citations` is in streams only.
  const plain: unknown = JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
    key === 'parsed_output' || key === 'citations' ? undefined : value,
  );
  if (!isMessage.Check(plain)) throw new Error(JSON.stringify(isMessage.Errors(plain)));
  return plain;
};
export const textOf = ({ content }: Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');
export const usesOf = ({ content }: Message) =>
  content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
export const city = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;
export const weather = { name: 'weather', description: 'The weather of a city', input_schema: city };
export const clock = { name: 'clock', description: 'The time in a city', input_schema: city };
