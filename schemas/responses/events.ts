/** Events of streamed responses. */
import Type, { type Static } from 'typebox';
import { Attempts, CountOf, Nullable } from '../shapes.ts';
import { OutputItem, OutputPart, Response, TokenLogprobs } from './response.ts';

const sequenceNumber = CountOf('0 for the first event, then one more each');

const eventOf = <Name extends string, Fields extends Type.TProperties>(type: Name, fields: Fields) =>
  Type.Object({ type: Type.Literal(type), sequence_number: sequenceNumber, ...fields });

const outputIndex = CountOf('Place of the item in `output`');
const ofItem = {
  item_id: Type.String({ description: 'Id of the item' }),
  output_index: outputIndex,
};
const ofPart = { ...ofItem, content_index: Type.Literal(0) };
const Delta = Type.String({ minLength: 1, description: 'The next piece' });
const Whole = Type.String({ description: 'All pieces together' });

export const ResponseEvent = Type.Union(
  [
    eventOf('response.created', { response: Response }),
    eventOf('response.in_progress', { response: Response }),
    eventOf('response.output_item.added', { output_index: outputIndex, item: OutputItem }),
    eventOf('response.content_part.added', { ...ofPart, part: OutputPart }),
    eventOf('response.output_text.delta', { ...ofPart, delta: Delta, logprobs: TokenLogprobs }),
    eventOf('response.output_text.done', { ...ofPart, text: Whole, logprobs: TokenLogprobs }),
    eventOf('response.reasoning_text.delta', { ...ofPart, delta: Delta }),
    eventOf('response.reasoning_text.done', { ...ofPart, text: Whole }),
    eventOf('response.content_part.done', { ...ofPart, part: OutputPart }),
    eventOf('response.function_call_arguments.delta', { ...ofItem, delta: Delta }),
    eventOf('response.function_call_arguments.done', {
      ...ofItem,
      name: Type.String({ description: 'The tool to call' }),
      namespace: Type.Optional(Type.String({ description: 'Of tools in a namespace' })),
      arguments: Whole,
    }),
    eventOf('response.custom_tool_call_input.delta', { ...ofItem, delta: Delta }),
    eventOf('response.custom_tool_call_input.done', { ...ofItem, input: Whole }),
    eventOf('response.output_item.done', { output_index: outputIndex, item: OutputItem }),
    eventOf('response.completed', { response: Response, x_sluice_attempts: Type.Optional(Attempts) }),
    eventOf('response.incomplete', { response: Response, x_sluice_attempts: Type.Optional(Attempts) }),
    eventOf('error', {
      code: Type.String({ description: 'Typed code for branching' }),
      message: Type.String({ description: 'Text for people' }),
      param: Nullable(Type.String(), 'The field at fault, if one is'),
    }),
    eventOf('response.failed', { response: Response }),
  ],
  { title: 'ResponseEvent', description: 'Data of one event; the name of the event is its `type`' },
);
export type ResponseEvent = Static<typeof ResponseEvent>;
