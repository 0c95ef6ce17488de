/** Recognizes that a prompt does not fit the context window, in the words of each server. */
import type { ContextFull } from '../../wire.ts';

const refusals = [
  // vLLM, OpenAI, another Sluice; the completion limit may count too
  /maximum context length/i,
  /context length is only/i,
  /prompt is too long/i,
  // SGLang, llama.cpp, Ollama, llama-cpp-python, LM Studio
  /(?:exceed\w*|longer than|greater than)\b.{0,60}\b(?:context (?:length|size|window)|maximum (?:model|allowed) length)/i,
  /context size has been exceeded/i,
  // Anthropic; the completion limit counts too
  /exceed context limit/i,
  // TGI
  /`inputs` (?:tokens \+|must have less than)/,
];

const windows = [
  /maximum context length (?:is|of) (\d+)/i,
  /context length is only (\d+)/i,
  /context (?:length|size|window)(?: of)? \(?(\d+)/i,
  /maximum (?:model|allowed) length (?:of )?\(?(\d+)/i,
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  /must be <= (\d+)/,
  /must have less than (\d+)/,
];

const prompts = [
  /prompt is too long: (\d+)/i,
  /resulted in (\d+) tokens/i,
  /\((\d+) in (?:the messages|your prompt)/i,
  /(?<!\d)(\d{1,15}) (?:input tokens|tokens from the input|`inputs` tokens)/i,
  /(?:prompt \(length|input \(|input length \(|request \(|requested tokens \() ?(\d+)/i,
  /exceed context limit: (\d+)/i,
  /Given: (\d+)/,
];

const maxima = [/> (\d+) maximum/i, /maximum input length of (\d+)/i];

/** Undefined for other refusals. Numbers are those that the server states. */
export const readContextFull = (message: string): ContextFull | undefined =>
  refusals.some((refusal) => refusal.test(message))
    ? {
        window: numberIn(message, windows),
        prompt: numberIn(message, prompts),
        maximum: numberIn(message, maxima),
      }
    : undefined;

const numberIn = (message: string, patterns: readonly RegExp[]): number | undefined => {
  for (const pattern of patterns) {
    const digits = pattern.exec(message)?.[1];
    if (digits !== undefined && digits.length <= 15) return Number(digits);
  }
  return undefined;
};
