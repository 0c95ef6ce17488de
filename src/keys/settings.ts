/** The settings of a key that an operator may change: checked by name before they are stored. */
import Value from 'typebox/value';
import { type LimitChanges, LimitNumbers } from '../../schemas/limits.ts';
import type { KeyRecord } from '../../schemas/records.ts';
import { fail } from '../errors.ts';
import { parseNetworks } from '../helpers/networks.ts';

export type KeySettings = Pick<
  KeyRecord,
  'expires' | 'models' | 'routes' | 'networks' | 'tags' | 'metadata' | 'limits'
>;

/** Null removes a setting, or one of the limits. */
export type KeyChanges = {
  readonly [Name in keyof Omit<KeySettings, 'limits'>]?: KeySettings[Name] | null;
} & { readonly name?: string; readonly limits?: LimitChanges | null };

const mostItems = 100;
const forms: Readonly<
  Record<'models' | 'routes' | 'tags', { readonly form: RegExp; readonly words: string }>
> = {
  models: { form: /^[\w./:*@-]{1,200}$/, words: 'ids of models such as openai/gpt-oss-20b or openai/*' },
  routes: {
    form: /^(?:(?:GET|POST|PUT|PATCH|DELETE|\*) )?[/*][\w./{}+*-]{0,200}$/,
    words: 'routes such as POST /chat/completions, GET * or /videos*',
  },
  tags: { form: /^[\w.:@/-]{1,64}$/, words: 'words of up to 64 letters, digits and . : @ / - _' },
};
const mostEntries = 16;

/** The settings after the changes. Throws `invalid_request` that names the setting. */
export const changed = (settings: KeySettings, changes: KeyChanges, now = Date.now()): KeySettings => {
  for (const name of ['models', 'routes', 'tags'] as const) {
    const { form, words } = forms[name];
    checkList(name, changes[name], (item) => form.test(item), words);
  }
  checkList('networks', changes.networks, isNetwork, 'networks such as 10.0.0.0/8 or 2001:db8::/32');
  checkExpiry(changes.expires, now);
  checkMetadata(changes.metadata);
  const { name: _, limits, ...rest } = changes;
  return given({ ...settings, ...rest, limits: changedLimits(settings.limits, limits) }) as KeySettings;
};

/** Without what is null or undefined. */
const given = (all: object): object =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));

/** Limits that are given take the place of the former ones, others stay. Undefined: none is left. */
const changedLimits = (
  limits: LimitNumbers | undefined,
  changes: LimitChanges | null | undefined,
): LimitNumbers | undefined => {
  const numbers = changes === null ? {} : given({ ...limits, ...changes });
  const [problem] = Value.Errors(LimitNumbers, numbers);
  if (problem !== undefined)
    throw fail('invalid_request', `limits${problem.instancePath.replaceAll('/', '.')} ${problem.message}`);
  return Object.keys(numbers).length === 0 ? undefined : numbers;
};

const checkList = (
  name: string,
  list: readonly string[] | null | undefined,
  fits: (item: string) => boolean,
  words: string,
): void => {
  if (list === undefined || list === null) return;
  // An empty list would allow nothing: whoever wants that suspends the key.
  if (list.length < 1 || list.length > mostItems || !list.every(fits))
    throw fail('invalid_request', `${name} must be 1 to ${mostItems} ${words}`);
};

const isNetwork = (text: string): boolean => {
  try {
    parseNetworks([text]);
    return true;
  } catch {
    return false;
  }
};

const checkExpiry = (expires: number | null | undefined, now: number): void => {
  if (expires === undefined || expires === null) return;
  if (!Number.isSafeInteger(expires) || expires * 1000 <= now)
    throw fail('invalid_request', 'expires must be a time in the future');
};

const checkMetadata = (metadata: KeySettings['metadata'] | null): void => {
  const entries = Object.entries(metadata ?? {});
  const fits = ([name, value]: [string, unknown]): boolean =>
    name.length <= 64 && typeof value === 'string' && value.length <= 512;
  if (entries.length > mostEntries || !entries.every(fits))
    throw fail(
      'invalid_request',
      `metadata must be at most ${mostEntries} texts of 512 characters under names of 64`,
    );
};
