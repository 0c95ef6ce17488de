/** Fields of JSON schemas as rows of a table: path, type, range and description. */
import { code, plain } from './page.ts';

/** As much of JSON schema as the schemas of this project use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly expected?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Field {
  readonly path: string;
  readonly schema: Schema;
  readonly required: boolean;
}

/** Gives the schema that a reference means. */
export type Lookup = (reference: string) => Schema;

const noReferences: Lookup = (reference) => {
  throw new Error(`no schema ${reference}`);
};

export const resolved = (schema: Schema, lookup: Lookup = noReferences): Schema =>
  schema.$ref === undefined
    ? schema
    : { ...lookup(schema.$ref), ...(schema.description && { description: schema.description }) };

/** Alternatives, those of nested unions too. */
const alternatives = (schema: Schema, lookup: Lookup): readonly Schema[] => {
  const among = schema.anyOf ?? schema.oneOf;
  return among === undefined
    ? [schema]
    : among.flatMap((each) => alternatives(resolved(each, lookup), lookup));
};

const bounds = ({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string => {
  const low = minimum ?? minLength ?? minItems;
  const high = maximum ?? maxLength ?? maxItems;
  const unit =
    minItems !== undefined || maxItems !== undefined
      ? ' items'
      : minLength !== undefined || maxLength !== undefined
        ? ' characters'
        : '';
  if (high !== undefined) return `${low ?? 0} to ${high}${unit}`;
  // That a text is not empty goes without saying.
  return low === undefined || unit === ' characters' ? '' : `${low} or more${unit}`;
};

export const typeOf = (schema: Schema, lookup: Lookup = noReferences): string => {
  if (schema.expected !== undefined) return schema.expected;
  const all = alternatives(resolved(schema, lookup), lookup);
  const texts = all.map((each) => simpleType(each, lookup));
  return [...new Set(texts)].join(' or ');
};

const simpleType = (schema: Schema, lookup: Lookup): string => {
  if (schema.expected !== undefined) return schema.expected;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const).replaceAll('"', ''));
  if (schema.enum !== undefined)
    return schema.enum.map((value) => code(String(value))).join(schema.enum.length > 3 ? ', ' : ' or ');
  if (schema.type === 'array') {
    const range = bounds(schema);
    const item = schema.items === undefined ? 'any' : typeOf(schema.items, lookup);
    return `list of ${item}${range === '' ? '' : `, ${range}`}`;
  }
  if (schema.type === 'object' || schema.properties !== undefined) {
    const value = memberOf(schema);
    return value === undefined || schema.properties !== undefined
      ? 'object'
      : `object of ${typeOf(value, lookup)}`;
  }
  if (schema.allOf !== undefined) return 'object';
  if (typeof schema.type !== 'string') return 'any';
  const range = bounds(schema);
  return range === '' ? schema.type : `${schema.type}, ${range}`;
};

/** The schema of the values of an object with names of the writer's choice. */
const memberOf = (schema: Schema): Schema | undefined => {
  const [pattern] = Object.values(schema.patternProperties ?? {});
  return (
    pattern ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined)
  );
};

export interface Depth {
  readonly lookup?: Lookup;
  /** Levels below which fields are not listed. */
  readonly deepest: number;
}

/** The fields of an object and of the objects in it. Alternatives are listed once, by name. */
export const fieldsOf = (
  schema: Schema,
  { lookup = noReferences, deepest }: Depth,
  prefix = '',
  level = 0,
): readonly Field[] => {
  const found = new Map<string, Field>();
  const add = (field: Field): void => {
    if (!found.has(field.path)) found.set(field.path, field);
  };
  const visit = (inner: Schema, path: string): void => {
    for (const field of fieldsOf(inner, { lookup, deepest }, path, level + 1)) add(field);
  };
  for (const each of alternatives(resolved(schema, lookup), lookup)) {
    for (const part of each.allOf ?? [])
      for (const field of fieldsOf(part, { lookup, deepest }, prefix, level)) add(field);
    for (const [name, member] of Object.entries(each.properties ?? {})) {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      add({ path, schema: resolved(member, lookup), required: each.required?.includes(name) ?? false });
      if (level + 1 < deepest) visit(member, path);
    }
    const value = memberOf(each);
    if (value !== undefined && each.properties === undefined && level < deepest) {
      const path = prefix === '' ? '<name>' : `${prefix}.<name>`;
      if (isObject(value, lookup)) visit(value, path);
    }
    if (each.type === 'array' && each.items !== undefined && isObject(each.items, lookup) && level < deepest)
      visit(each.items, `${prefix}[]`);
  }
  return [...found.values()];
};

const isObject = (schema: Schema, lookup: Lookup): boolean =>
  alternatives(resolved(schema, lookup), lookup).some(
    (each) => each.type === 'object' || each.properties !== undefined || each.allOf !== undefined,
  );

export const describe = (schema: Schema): string => plain(schema.description ?? '');
