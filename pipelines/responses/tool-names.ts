/** Maps tools of a request to the names that engines know them by: namespaces are flattened. */
import { createHash } from 'node:crypto';
import { quoted } from '../../src/helpers/quoted.ts';

/** How a call of the tool is shown to the client. */
export interface CalledTool {
  readonly type: 'function_call' | 'custom_tool_call';
  /** Quoted. */
  readonly name: string;
  /** As a JSON field after a comma; empty without one. */
  readonly namespace: string;
}

/** By the name that the engine has; only tools whose calls differ from those of a plain function. */
export type CalledTools = ReadonlyMap<string, CalledTool>;

export const calledTool = (
  type: CalledTool['type'],
  name: string,
  namespace: string | undefined,
): CalledTool => ({
  type,
  name: quoted(name),
  namespace: namespace === undefined ? '' : `,"namespace":${quoted(namespace)}`,
});

/** The longest name that every engine takes. */
const longestName = 64;

export class ToolNames {
  /** Engine names, by namespace and name. */
  readonly #names = new Map<string, string>();
  readonly #taken: Set<string>;

  /** `plain` are the names of tools outside of namespaces, which stay as they are. */
  constructor(plain: Iterable<string>) {
    this.#taken = new Set(plain);
    for (const name of this.#taken) this.#names.set(keyOf(undefined, name), name);
  }

  /** The engine name of a tool in a namespace, which need not be known yet. */
  add(namespace: string, name: string): string {
    const key = keyOf(namespace, name);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const flat = flatName(namespace, name);
    let unique = flat;
    for (let round = 0; this.#taken.has(unique); round++) unique = hashedName(flat, `${key}\0${round}`);
    this.#taken.add(unique);
    this.#names.set(key, unique);
    return unique;
  }

  /** Undefined for a tool that the request does not have. */
  find(namespace: string | undefined, name: string): string | undefined {
    return this.#names.get(keyOf(namespace, name));
  }

  /** The engine name of a call in the history, whose tool may be gone. */
  called(namespace: string | undefined, name: string): string {
    if (!namespace) return name;
    return this.find(namespace, name) ?? flatName(namespace, name);
  }
}

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}\0${name}`;

/** `weather` in `maps` is `maps__weather`. The same for every request, so that engines can cache prompts. */
const flatName = (namespace: string, name: string): string => {
  const joined = `${namespace}__${name}`;
  const flat = joined.replaceAll(/[^\w-]/g, '_');
  return flat === joined && flat.length <= longestName ? flat : hashedName(flat, keyOf(namespace, name));
};

const hashedName = (name: string, key: string): string => {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return `${name.slice(0, longestName - hash.length - 1)}_${hash}`;
};
