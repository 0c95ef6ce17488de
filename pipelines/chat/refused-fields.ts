/** Refuses fields of other servers that would change the answer and are not passed on: 400 names the field. */
import { fail } from '../../src/errors.ts';
import { isObject } from '../../src/json-schema.ts';

interface Refused {
  /** False for a value that changes nothing, beside those that never do. */
  readonly changes?: (value: unknown) => boolean;
  /** The field that does the same here. */
  readonly instead?: string;
}

const unless =
  (neutral: unknown) =>
  (value: unknown): boolean =>
    value !== neutral;

const tools: Refused = { instead: 'tools' };
const format: Refused = { instead: 'response_format' };
const reasoning: Refused = { instead: 'reasoning' };
const off: Refused = { changes: unless(0) };
const one: Refused = { changes: unless(1) };
const plain: Refused = {};

const refused: ReadonlyMap<string, Refused> = new Map(
  Object.entries({
    // the API of OpenAI and of OpenRouter
    audio: plain,
    function_call: { changes: unless('none'), instead: 'tool_choice' },
    functions: tools,
    modalities: { changes: (value) => !Array.isArray(value) || value.some(unless('text')) },
    // Documents are read without a plugin.
    plugins: { changes: (value) => Array.isArray(value) && value.some(isWebSearch) },
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
    repeat_penalty: { changes: unless(1), instead: 'repetition_penalty' },
    skip_special_tokens: { changes: unless(true) },
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
    add_generation_prompt: { changes: unless(true) },
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

const check = (name: string, value: unknown, { changes, instead }: Refused): void => {
  if (isNothing(value) || changes?.(value) === false) return;
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

function isWebSearch(plugin: unknown): boolean {
  return isObject(plugin) && plugin.id === 'web';
}
