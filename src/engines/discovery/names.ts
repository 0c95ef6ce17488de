/** Completes host names as the system's resolver does: by the search domains of `resolv.conf`. */
import { readFileSync } from 'node:fs';

export interface SearchRules {
  readonly domains: readonly string[];
  /** A name with so many dots is tried as it is first. */
  readonly dots: number;
}

const resolvConf = '/etc/resolv.conf';

/** Read for each resolution: the file is small, and replaced as networks change. */
export const systemSearch = (file = resolvConf): SearchRules => {
  try {
    return parseSearch(readFileSync(file, 'utf8'));
  } catch (error) {
    // Systems without the file have no search domains.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { domains: [], dots: 1 };
    throw error;
  }
};

/** The last `search` or `domain` line counts. */
export const parseSearch = (text: string): SearchRules => {
  const rules = { domains: [] as string[], dots: 1 };
  for (const line of text.split('\n')) {
    const [word, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (word === 'search' || word === 'domain') rules.domains = values.map((name) => name.replace(/\.$/, ''));
    const option = word === 'options' ? values.find((value) => /^ndots:\d+$/.test(value)) : undefined;
    if (option !== undefined) rules.dots = Math.min(Number(option.slice(6)), 15);
  }
  return rules;
};

/** The names to ask for, in order. */
export const candidates = (name: string, { domains, dots }: SearchRules): readonly string[] => {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const completed = domains.filter((domain) => domain !== '').map((domain) => `${name}.${domain}`);
  return name.split('.').length - 1 >= dots ? [name, ...completed] : [...completed, name];
};
