/** Refuses fields of other servers that would change the answer and are not passed on: 400 names the field. */
import { fail } from '../../src/errors.ts';

interface Refused {
  /** A value that changes nothing, beside those that never do. */
  readonly neutral?: unknown;
  /** The field that does the same here. */
  readonly instead?: string;
}

const tools: Refused = { instead: 'tools' };
const format: Refused = { instead: 'response_format' };
const reasoning: Refused = { instead: 'reasoning' };
const off: Refused = { neutral: 0 };
const one: Refused = { neutral: 1 };
const plain: Refused = {};

const refused: ReadonlyMap<string, Refused> = new Map(
  Object.entries({
    // the API of OpenAI and of OpenRouter
    audio: plain,
    function_call: { neutral: 'none', instead: 'tool_choice' },
    functions: tools,
    modalities: { neutral: 'text' },
    plugins: plain,
    preset: plain,
    suffix: plain,
    web_search_options: plain,
    // sampling of vLLM, SGLang, llama.cpp and OpenRouter
    bad_words: plain,
    dry_multiplier: off,
    dynatemp_range: off,
    early_stopping: plain,
    ignore_eos: plain,
    include_stop_str_in_output: plain,
    length_penalty: one,
    logits_processors: plain,
    min_p: off,
    min_tokens: off,
    mirostat: off,
    repeat_penalty: { neutral: 1, instead: 'repetition_penalty' },
    skip_special_tokens: { neutral: true },
    stop_token_ids: plain,
    tfs_z: one,
    top_a: off,
    truncate_prompt_tokens: plain,
    typical_p: one,
    use_beam_search: plain,
    xtc_probability: off,
    // constrained answers
    ebnf: format,
    grammar: format,
    guided_choice: format,
    guided_grammar: format,
    guided_json: format,
    guided_regex: format,
    json_schema: format,
    regex: format,
    structured_outputs: format,
    // templates and thinking
    add_generation_prompt: { neutral: true },
    chat_template: plain,
    chat_template_kwargs: plain,
    documents: plain,
    enable_thinking: reasoning,
    thinking: reasoning,
    thinking_budget: reasoning,
    thinking_token_budget: reasoning,
  } satisfies Record<string, Refused>),
);

export const refuseFields = (body: object): void => {
  for (const name in body) {
    const rule: Refused | undefined = refused.get(name);
    if (rule !== undefined) check(name, (body as Record<string, unknown>)[name], rule);
  }
};

const check = (name: string, value: unknown, { neutral, instead }: Refused): void => {
  const isNeutral = Array.isArray(value) ? value.every((item) => item === neutral) : value === neutral;
  if (isNeutral || isNothing(value)) return;
  const hint = instead === undefined ? '' : `: use ${instead}`;
  throw fail('unsupported_parameter', `${name} is not supported${hint}`);
};

/** Switched off, or empty. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);
