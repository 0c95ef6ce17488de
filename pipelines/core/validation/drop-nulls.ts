/** Removes nulls that clients send for optional fields they leave unset. */
import {
  alternatives,
  discriminator,
  isObject,
  type JsonSchema,
  literals,
  variantsOf,
} from '../../../src/helpers/json-schema.ts';

/** Changes the value in place. Only fields the schema names are touched: free-form JSON keeps its nulls, arrays too. */
type DropNulls = (value: unknown) => void;

/** Undefined when the schema has no optional field anywhere. */
export const dropNulls = (schema: JsonSchema): DropNulls | undefined => {
  const branches = alternatives(schema);
  const [only] = branches;
  if (only !== undefined && branches.length === 1) return dropOne(only);
  const arrays = branches.flatMap((branch) => (branch.type === 'array' ? (dropOne(branch) ?? []) : []));
  const objects = dropVariants(branches.filter((branch) => branch.type === 'object'));
  if (objects === undefined && arrays.length === 0) return undefined;
  return (value) => {
    if (Array.isArray(value)) for (const drop of arrays) drop(value);
    else objects?.(value);
  };
};

const dropOne = (schema: JsonSchema): DropNulls | undefined => {
  if (schema.type === 'array') return schema.items === undefined ? undefined : dropItems(schema.items);
  const parts = (schema.allOf ?? []).flatMap((part) => dropNulls(part) ?? []);
  const own = schema.type === 'object' ? dropObject(schema) : undefined;
  if (own !== undefined) parts.push(own);
  const [first] = parts;
  if (parts.length <= 1) return first;
  return (value) => {
    for (const part of parts) part(value);
  };
};

const dropItems = (items: JsonSchema): DropNulls | undefined => {
  const drop = dropNulls(items);
  if (drop === undefined) return undefined;
  return (value) => {
    if (Array.isArray(value)) for (const item of value) drop(item);
  };
};

const dropObject = (schema: JsonSchema): DropNulls | undefined => {
  const properties = Object.entries(schema.properties ?? {});
  const optional = new Set(
    properties
      .filter(([name, property]) => !schema.required?.includes(name) && !takesNull(property))
      .map(([name]) => name),
  );
  const nested = new Map(
    properties.flatMap(([name, property]) => {
      const drop = dropNulls(property);
      return drop === undefined ? [] : [[name, drop] as const];
    }),
  );
  if (optional.size === 0 && nested.size === 0) return undefined;
  return (value) => {
    if (!isObject(value)) return;
    // By what was sent, which is little; the schema has many fields.
    for (const name in value) {
      const field = value[name];
      if (field === null) {
        if (optional.has(name)) delete value[name];
      } else if (typeof field === 'object') nested.get(name)?.(field);
    }
  };
};

/** Of several kinds of object only the one that the value's literal field names. */
const dropVariants = (variants: readonly JsonSchema[]): DropNulls | undefined => {
  const dropAll = (meant: readonly JsonSchema[]): readonly DropNulls[] =>
    meant.flatMap((variant) => dropOne(variant) ?? []);
  const all = dropAll(variants);
  if (all.length === 0) return undefined;
  const key = variants.length > 1 ? discriminator(variants) : undefined;
  if (key === undefined) return (value) => applyTo(value, all);
  const dropsOf = (value: unknown) => dropAll(variantsOf(variants, key, value));
  const pinned = variants.flatMap((variant) => literals(variant.properties?.[key] ?? {}) ?? []);
  const byValue = new Map([undefined, ...pinned].map((value) => [value, dropsOf(value)]));
  const others = dropsOf(Symbol('any other value'));
  return (value) => {
    if (isObject(value)) applyTo(value, byValue.get(value[key] ?? undefined) ?? others);
  };
};

const applyTo = (value: unknown, drops: readonly DropNulls[]): void => {
  for (const drop of drops) drop(value);
};

export const takesNull = (schema: JsonSchema): boolean =>
  alternatives(schema).some(
    (branch) => branch.type === 'null' || branch.const === null || branch.enum?.includes(null) === true,
  );
