/** The reference of environment variables: facts from the code that reads them, texts from settings.yaml. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../markdown.ts';
import { code, joined, opening, table } from './page.ts';

export interface Setting {
  readonly text: string;
  /** Markdown; where the call that reads it shows none. */
  readonly default?: string | number;
  /** Instead of the one that the call shows. */
  readonly computed?: string;
}

export type Settings = Readonly<Record<string, Readonly<Record<string, Setting>>>>;

/** What the call that reads a variable says of it. */
export interface Facts {
  readonly type: string;
  /** Undefined: none, or computed. */
  readonly fallback: string | undefined;
}

const sourcesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith(join('console', 'web')))
    .map((name) => readFileSync(join(root, folder, name), 'utf8'));

const number = (text: string | undefined): string | undefined =>
  /^[\d_*\s]+$/.test(text ?? '')
    ? String(
        (text ?? '')
          .replaceAll('_', '')
          .replace(/\s/g, '')
          .replace(/\*\*/g, '^')
          .split('*')
          .reduce((product, factor) => {
            const [base = '1', power = '1'] = factor.split('^');
            return product * Number(base) ** Number(power);
          }, 1),
      )
    : undefined;

/** Arguments behind the name, split at commas outside of brackets and texts. */
const argumentsOf = (text: string): string[] => {
  const found: string[] = [];
  let [depth, begun] = [0, 0];
  for (const { 0: token, index } of text.matchAll(/'[^']*'|[()[\],]/g)) {
    if (token === '(' || token === '[') depth++;
    if ((token === ')' || token === ']') && depth-- === 0) {
      found.push(text.slice(begun, index));
      return found.map((one) => one.trim()).filter((one) => one !== '');
    }
    if (token !== ',' || depth > 0) continue;
    found.push(text.slice(begun, index));
    begun = index + 1;
  }
  throw new Error(`no end of the call: ${text.slice(0, 100)}`);
};

const choices = (text: string | undefined): string[] =>
  [...(text ?? '').matchAll(/'([^']*)'/g)].map(([, choice = '']) => choice);

/** Lists that are declared apart from the call: `['trace', 'debug']` of `const logLevels`. */
const declared = (source: string, name: string): string | undefined =>
  new RegExp(`const ${name} = (\\[[^\\]]*\\])`).exec(source)?.[1];

const factsOf = (reader: string, given: readonly string[], source: string): Facts => {
  const [first, min, max] = given;
  if (reader === 'integer') {
    const bounds = [number(min), number(max?.replace('Number.MAX_SAFE_INTEGER', ''))];
    const range = bounds[1] === undefined ? `${bounds[0] ?? 0} or more` : `${bounds[0] ?? 1} to ${bounds[1]}`;
    return { type: `integer, ${range}`, fallback: number(first) };
  }
  if (reader === 'flag') return { type: '`1` or `0`', fallback: '0' };
  if (reader === 'oneOf') {
    const list = first?.startsWith('[') ? first : declared(source, first ?? '');
    const names = choices(list);
    // Built from another list.
    const all = list?.includes('...') ? samplerNames(source) : names;
    return { type: all.map(code).join(', '), fallback: choices(min)[0] };
  }
  if (reader === 'url')
    return {
      type: `URL: ${choices(first)
        .map((p) => code(`${p}//`))
        .join(', ')}`,
      fallback: undefined,
    };
  if (reader === 'networks') return { type: 'networks, with commas between', fallback: undefined };
  return { type: 'text', fallback: undefined };
};

const samplerNames = (source: string): string[] => {
  const roots = choices(declared(source, 'roots'));
  return [...roots, ...roots.map((name) => `parentbased_${name}`)];
};

/** Every variable that the sources read, by name. */
export const readFacts = (sources: readonly string[] = sourcesBelow('src')): ReadonlyMap<string, Facts> => {
  const found = new Map<string, Facts>();
  const note = (name: string, facts: Facts): void => {
    // A variable may be read twice: the call with the most to say counts.
    if (found.get(name) === undefined || found.get(name)?.type === 'text') found.set(name, facts);
  };
  for (const source of sources) {
    for (const call of source.matchAll(/\b(\w+)\(\s*env(?:ironment\(\))?,\s*'([A-Z][A-Z\d_]+)',?/g))
      note(
        call[2] ?? '',
        factsOf(call[1] ?? '', argumentsOf(source.slice(call.index + call[0].length)), source),
      );
    // Names in a list or a constant of the file, which its readers are given.
    for (const [, name = ''] of source.matchAll(/'((?:OTEL|SLUICE|KAFKA|S3)_[A-Z\d_]+)'/g))
      if (!found.has(name)) note(name, namedFacts(name, source));
    for (const [, name = ''] of source.matchAll(/\benv\.([A-Z][A-Z\d_]+)\b/g))
      note(name, { type: 'text', fallback: undefined });
    for (const [, names = ''] of source.matchAll(/const \{([A-Z\d_, ]+)\} = environment\(\)/g))
      for (const name of names.split(',')) note(name.trim(), { type: 'text', fallback: undefined });
  }
  for (const name of ofTheSystem) found.delete(name);
  return found;
};

/** `for (const name of ['A', 'B']) oneOf(env, name, …)`, and constants that are given to `url`. */
const namedFacts = (name: string, source: string): Facts => {
  const loop = new RegExp(`\\[[^\\]]*'${name}'[^\\]]*\\]\\)\\s*(\\w+)\\(\\s*env,\\s*name,`).exec(source);
  if (loop !== null)
    return factsOf(loop[1] ?? '', argumentsOf(source.slice(loop.index + loop[0].length)), source);
  return /_(?:ENDPOINT|URL)$/.test(name)
    ? { type: 'URL: `http://`, `https://`', fallback: undefined }
    : { type: 'text', fallback: undefined };
};

/** Set by the system, not for Sluice. */
const ofTheSystem = ['HOME', 'PATH', 'TERM'];

export const readSettings = (): Settings =>
  parse(readFileSync(join(root, 'docs/reference/settings.yaml'), 'utf8')) as Settings;

export const configurationPage = (
  settings: Settings = readSettings(),
  facts: ReadonlyMap<string, Facts> = readFacts(),
): string => {
  const described = Object.values(settings).flatMap((group) => Object.keys(group));
  const missing = [...facts.keys()].filter((name) => !described.includes(name));
  if (missing.length > 0) throw new Error(`docs/reference/settings.yaml lacks ${missing.join(', ')}`);
  const row = ([name, { text, default: given, computed }]: [string, Setting]): readonly string[] => {
    const known = facts.get(name);
    if (known === undefined) throw new Error(`docs/reference/settings.yaml: nothing reads ${name}`);
    if (given !== undefined && known.fallback !== undefined)
      throw new Error(`docs/reference/settings.yaml: the default of ${name} is in the code`);
    const shown = computed ?? given ?? known.fallback;
    const isValue = computed === undefined && (given === undefined || /^[\w./~:-]+$/.test(String(given)));
    return [
      code(name),
      known.type,
      shown === undefined ? '–' : isValue ? code(String(shown)) : String(shown),
      text,
    ];
  };
  return joined([
    opening(
      'Environment variables',
      'Every setting of the gateway, its workers and its command line. An invalid value stops the start with one line that names the variable. An empty variable counts as not set. Engines and models are in [`sluice.yaml`](sluice-yaml.md).',
      'the code that reads them and `settings.yaml`',
    ),
    ...Object.entries(settings).flatMap(([group, members]) => [
      `## ${group}`,
      table(['Variable', 'Type', 'Default', ''], Object.entries(members).map(row)),
    ]),
  ]);
};
