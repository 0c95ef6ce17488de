/** Renders the response object of the responses format in each of its states. */
import { type ApiError, errorBody } from '../../src/errors.ts';
import { quoted } from '../../src/helpers/quoted.ts';
import type { FinishReason, TokenUsage } from '../../src/ports/engines/chat.ts';
import type { CalledTools } from './tool-names.ts';

export interface ResponseForm {
  /** Ends the ids of the response and of its items. */
  readonly key: string;
  /** The object up to its status. */
  readonly start: string;
  /** The object from its model on. */
  readonly rest: string;
  /** The client wants logprobs. */
  readonly logprobs: boolean;
  readonly called: CalledTools | undefined;
}

export const responseForm = ({ key, model, echo, logprobs, called }: ResponseFacts): ResponseForm => ({
  key,
  start: `{"id":"resp_${key}","object":"response","created_at":${seconds()},"status":`,
  rest: `,"model":${quoted(model)},${echo}}`,
  logprobs,
  called,
});

interface ResponseFacts extends Pick<ResponseForm, 'key' | 'logprobs' | 'called'> {
  readonly model: string;
  /** What the object repeats of its request, as JSON fields. */
  readonly echo: string;
}

export const openResponse = (form: ResponseForm): string =>
  responseJson(form, '"in_progress","completed_at":null,"error":null,"incomplete_details":null', '', 'null');

/** `output` is the items, with commas between. */
export const endedResponse = (
  form: ResponseForm,
  output: string,
  reason: IncompleteReason | undefined,
  usage: TokenUsage,
): string =>
  responseJson(
    form,
    reason === undefined
      ? `"completed","completed_at":${seconds()},"error":null,"incomplete_details":null`
      : `"incomplete","completed_at":null,"error":null,"incomplete_details":{"reason":"${reason}"}`,
    output,
    usageJson(usage),
  );

/** Failures are not billed: there is no usage to report. */
export const failedResponse = (form: ResponseForm, output: string, error: ApiError): string =>
  responseJson(
    form,
    `"failed","completed_at":null,"error":{"code":"${errorCode(error)}","message":${JSON.stringify(error.message)}},"incomplete_details":null`,
    output,
    'null',
  );

const responseJson = ({ start, rest }: ResponseForm, state: string, output: string, usage: string): string =>
  `${start}${state},"output":[${output}],"usage":${usage}${rest}`;

type IncompleteReason = 'max_output_tokens' | 'content_filter';

/** Undefined for a complete response. */
export const incompleteReason = (finish: FinishReason): IncompleteReason | undefined => {
  if (finish === 'length') return 'max_output_tokens';
  return finish === 'content_filter' ? finish : undefined;
};

/** This format has only a few error codes. */
const errorCode = (error: ApiError): string => {
  const { status } = error;
  const { code } = errorBody(error).metadata;
  if (code !== undefined) return code;
  if (status === 429) return 'rate_limit_exceeded';
  return status < 500 ? 'invalid_prompt' : 'server_error';
};

const usageJson = ({ prompt, completion, cached, reasoning }: TokenUsage): string =>
  `{"input_tokens":${prompt},"input_tokens_details":{"cached_tokens":${cached},"cache_write_tokens":0},` +
  `"output_tokens":${completion},"output_tokens_details":{"reasoning_tokens":${reasoning}},"total_tokens":${prompt + completion}}`;

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
