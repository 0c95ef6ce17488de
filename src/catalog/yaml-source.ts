/** Parses YAML with the line and column of every field, and finds duplicate keys. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import { CatalogFileError, type Path, type Problem } from './problems.ts';

/** An alias may be used this often in all; expanding more is how a small file fills the memory. */
const maxAliases = 100;

export interface YamlSource {
  readonly value: unknown;
  readonly repeated: readonly Problem[];
  /** `file:line:column` of a field, or of the nearest thing around it that is there. */
  place(path: Path): string;
  /** `models.acme/writer.legacy_ids[0]`. */
  field(path: Path): string;
}

export const parseYaml = (file: string, text: string): YamlSource => {
  const lines = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const document = parse(file, text, lines);
  const mistake = document.errors[0];
  if (mistake !== undefined)
    throw new CatalogFileError([`${at(mistake.pos[0])} is not valid YAML: ${oneLine(mistake.message)}`]);
  const value = toValue(document, at);
  return {
    value,
    repeated: repeatedKeys(document),
    place: (path) => at(offsetOf(document, path)),
    field: (path) => fieldName(value, path),
  };
};

const parse = (file: string, text: string, lineCounter: LineCounter): Document => {
  try {
    return parseDocument(text, { lineCounter, uniqueKeys: false, merge: true, prettyErrors: false });
  } catch (error) {
    // The parser recurses: absurdly deep nesting runs out of stack.
    throw new CatalogFileError([`${file}:1:1 is not valid YAML: nested too deep`], error);
  }
};

const toValue = (document: Document, at: (offset: number) => string): unknown => {
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) === undefined)
        throw new CatalogFileError([
          `${at(startOf(alias) ?? 0)} uses *${alias.source}, which is defined nowhere above it`,
        ]);
    },
  });
  try {
    return document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    throw new CatalogFileError([`${at(0)} repeats so much by aliases that it is not read`], error);
  }
};

const oneLine = (message: string): string => message.replace(/\s+/g, ' ').trim();

/** A merge key's value is a symbol that is described as it is written. */
const keyOf = ({ key }: Pair): string => {
  const value = isScalar(key) ? key.value : key;
  return typeof value === 'symbol' ? (value.description ?? '') : String(value);
};

const repeatedKeys = (document: Document): Problem[] => {
  const found: Problem[] = [];
  const walk = (node: unknown, path: Path): void => {
    if (isSeq(node))
      node.items.forEach((item, index) => {
        walk(item, [...path, String(index)]);
      });
    if (!isMap(node)) return;
    const seen = new Set<string>();
    for (const pair of node.items) {
      const key = keyOf(pair);
      if (seen.has(key)) found.push({ path: [...path, key], says: 'is written twice' });
      seen.add(key);
      walk(pair.value, [...path, key]);
    }
  };
  walk(document.contents, []);
  return found;
};

/** Where a field's key (or list item) starts. A key written twice counts where it stands last, as its value does. */
const offsetOf = (document: Document, path: Path): number => {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const part of path) {
    const step = stepInto(document, node, part);
    if (step === undefined) break;
    offset = step.offset ?? offset;
    node = step.node;
  }
  return offset;
};

interface Step {
  readonly node: unknown;
  readonly offset: number | undefined;
}

const stepInto = (document: Document, from: unknown, part: string): Step | undefined => {
  const node = isAlias(from) ? from.resolve(document) : from;
  if (isSeq(node)) {
    const item = node.items[Number(part)];
    return item === undefined ? undefined : { node: item, offset: startOf(item) };
  }
  if (!isMap(node)) return undefined;
  const own = node.items.findLast((pair) => keyOf(pair) === part);
  if (own !== undefined) return { node: own.value, offset: startOf(own.key) };
  const merged = node.items.filter((pair) => keyOf(pair) === '<<');
  for (const pair of merged)
    for (const source of isSeq(pair.value) ? pair.value.items : [pair.value]) {
      const step = stepInto(document, source, part);
      if (step !== undefined) return step;
    }
  return undefined;
};

const startOf = (node: unknown): number | undefined => {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range))
    return undefined;
  return Number(node.range[0]);
};

const fieldName = (root: unknown, path: Path): string => {
  let name = '';
  let value: unknown = root;
  for (const part of path) {
    name += Array.isArray(value) ? `[${part}]` : name === '' ? part : `.${part}`;
    value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined;
  }
  return name === '' ? 'the file' : name;
};
