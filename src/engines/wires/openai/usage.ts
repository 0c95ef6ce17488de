/** Reads the tokens of a prompt from the usage of a response. */
import { isObject } from '../shared/json.ts';

/** Zero for a text is no count; some servers that do not count write it. */
export const tokensOf = (usage: unknown): number | undefined => {
  if (!isObject(usage)) return undefined;
  const tokens = [usage.prompt_tokens, usage.total_tokens].find(
    (count) => typeof count === 'number' && Number.isSafeInteger(count) && count > 0,
  );
  return typeof tokens === 'number' ? tokens : undefined;
};
