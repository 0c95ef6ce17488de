/** Fields of model servers that would change an answer: refused where the engine is not sent them. */

/** What a format has for the same purpose. */
export interface Instead {
  readonly format?: string;
  readonly reasoning?: string;
  readonly limit?: string;
  readonly repetition?: string;
}

/** What follows the words of the refusal, and which values change nothing; empty ones by default. */
type Rule = readonly [why?: string, harmless?: (value: unknown) => boolean];

export const serverFields = (instead: Instead): Readonly<Record<string, Rule>> => {
  const format: Rule = [use(instead.format)];
  const reasoning: Rule = [use(instead.reasoning)];
  return {
    // sampling of vLLM, SGLang, llama.cpp and OpenRouter
    allowed_token_ids: plain,
    bad_words: plain,
    custom_logit_processor: plain,
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
    n_predict: [use(instead.limit)],
    repeat_penalty: [use(instead.repetition), isOne],
    samplers: plain,
    skip_special_tokens: ['', (value) => value === true],
    stop_regex: plain,
    stop_token_ids: plain,
    tfs_z: one,
    top_a: off,
    top_n_sigma: ['', (value) => isNothing(value) || (typeof value === 'number' && value <= 0)],
    truncate_prompt_tokens: plain,
    typical_p: one,
    use_beam_search: plain,
    vllm_xargs: plain,
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
    // templates, inputs and thinking
    chat_template: plain,
    chat_template_kwargs: plain,
    documents: plain,
    enable_thinking: [use(instead.reasoning), never],
    lora_path: plain,
    mm_processor_kwargs: plain,
    prompt_embeds: plain,
    think: [use(instead.reasoning), never],
    thinking: reasoning,
    thinking_budget: reasoning,
    thinking_token_budget: reasoning,
    // hosted servers and other gateways
    plugins: ['', (value) => !Array.isArray(value) || !value.some(isWebSearch)],
    preset: plain,
    suffix: plain,
    web_search_options: plain,
  };
};

const use = (field: string | undefined): string => (field === undefined ? '' : `: use ${field}`);

/** Switched off, or empty. */
export const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Switching off is a change as well. */
const never = (): boolean => false;
const isOne = (value: unknown): boolean => value === 1 || isNothing(value);
const plain: Rule = [];
const off: Rule = ['', (value) => value === 0 || isNothing(value)];
const one: Rule = ['', isOne];

/** Documents are read without a plugin. */
function isWebSearch(plugin: unknown): boolean {
  return typeof plugin === 'object' && plugin !== null && 'id' in plugin && plugin.id === 'web';
}
