/** Writes the events of a response. */
import { type ApiError, errorBody } from '../../src/errors.ts';
import type { FinishReason } from '../../src/ports/engines/chat.ts';
import { attemptsJson, type EventWriter, type UsagePart } from '../conversation/frame-stream.ts';
import type { SettledPart } from '../conversation/settle.ts';
import {
  type ContentPart,
  type Item,
  type ItemStatus,
  isCall,
  itemJson,
  Output,
  partJson,
} from './output.ts';
import {
  endedResponse,
  failedResponse,
  incompleteReason,
  openResponse,
  type ResponseForm,
} from './response-json.ts';

const deltas = {
  message: 'response.output_text.delta',
  reasoning: 'response.reasoning_text.delta',
  function_call: 'response.function_call_arguments.delta',
  custom_tool_call: 'response.custom_tool_call_input.delta',
} as const;

/**
 * Each item is added, grows and is done before the next one; numbers count up from 0. Constant text is built once per
 * item and the escaped text spliced in.
 */
export class ResponseEvents implements EventWriter {
  readonly #form: ResponseForm;
  readonly #output: Output;
  #sequence = 0;
  /** A delta of the open item up to its number. Joined, so that it is one flat string. */
  #delta = '';
  #finish: FinishReason = 'stop';

  constructor(form: ResponseForm) {
    this.#form = form;
    this.#output = new Output(form);
  }

  start(): string {
    const response = `"response":${openResponse(this.#form)}`;
    return this.#event('response.created', response) + this.#event('response.in_progress', response);
  }

  of(part: SettledPart): string {
    switch (part.type) {
      case 'finish':
        // The item stays open: its status is written with the end.
        this.#finish = part.reason;
        return '';
      case 'usage':
        return this.#end(part);
      default:
        return this.#content(part);
    }
  }

  #content(part: ContentPart): string {
    const output = this.#output;
    let events = '';
    if (output.begins(part)) events = this.#close('completed') + this.#begin(output.begin(part));
    const text = output.grow(part);
    return text === '' ? events : `${events}${this.#grown(text)}`;
  }

  #grown(text: string): string {
    return `${this.#delta}${this.#sequence++},"delta":"${text}${this.#deltaEnd()}`;
  }

  #deltaEnd(): string {
    const item = this.#output.open;
    if (item?.type !== 'message') return '"}\n\n';
    if (item.unsent === '') return '","logprobs":[]}\n\n';
    const { unsent } = item;
    item.unsent = '';
    return `","logprobs":[${unsent}]}\n\n`;
  }

  #begin(item: Item): string {
    const place = placeOf(item);
    const delta = deltas[item.type];
    this.#delta = ['event: ', delta, '\ndata: {"type":"', delta, '",', place, ',"sequence_number":'].join('');
    const added = this.#event(
      'response.output_item.added',
      `"output_index":${item.index},"item":${itemJson(item, 'in_progress')}`,
    );
    if (isCall(item.type)) return added;
    return added + this.#event('response.content_part.added', `${place},"part":${partJson(item)}`);
  }

  #close(status: ItemStatus): string {
    const rest = this.#output.finish();
    const grown = rest === '' ? '' : this.#grown(rest);
    const item = this.#output.end(status);
    if (item === undefined) return '';
    return (
      grown +
      this.#contentDone(item) +
      this.#event(
        'response.output_item.done',
        `"output_index":${item.index},"item":${itemJson(item, status)}`,
      )
    );
  }

  #contentDone(item: Item): string {
    const place = placeOf(item);
    if (item.type === 'function_call')
      return this.#event(
        'response.function_call_arguments.done',
        `${place},"name":${item.name}${item.namespace},"arguments":"${item.text}"`,
      );
    if (item.type === 'custom_tool_call')
      return this.#event('response.custom_tool_call_input.done', `${place},"input":"${item.text}"`);
    const textDone =
      item.type === 'message'
        ? this.#event(
            'response.output_text.done',
            `${place},"text":"${item.text}","logprobs":[${item.logprobs}]`,
          )
        : this.#event('response.reasoning_text.done', `${place},"text":"${item.text}"`);
    return textDone + this.#event('response.content_part.done', `${place},"part":${partJson(item)}`);
  }

  #end(part: UsagePart): string {
    const reason = incompleteReason(this.#finish);
    const closed = this.#close(reason === undefined ? 'completed' : 'incomplete');
    const response = endedResponse(this.#form, this.#output.json(), reason, part.usage);
    return (
      closed +
      this.#event(
        reason === undefined ? 'response.completed' : 'response.incomplete',
        `"response":${response}${attemptsJson(part)}`,
      )
    );
  }

  /** The output so far stays in the response, the open item as incomplete. */
  fail(error: ApiError): string {
    this.#output.end('incomplete');
    const { message, metadata } = errorBody(error);
    const errorEvent = this.#event(
      'error',
      `"code":"${metadata.code ?? metadata.error_type}","message":${JSON.stringify(message)},"param":null`,
    );
    const response = failedResponse(this.#form, this.#output.json(), error);
    return errorEvent + this.#event('response.failed', `"response":${response}`);
  }

  #event(type: string, fields: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${fields}}\n\n`;
  }
}

const placeOf = ({ type, id, index }: Item): string =>
  `"item_id":"${id}","output_index":${index}${isCall(type) ? '' : ',"content_index":0'}`;
