/** Checks a JSON Schema marked `strict`: a 400 names where it leaves the strict subset. */
import { isObject } from '../../src/helpers/json-schema.ts';
import { invalid } from '../core/checks.ts';

type Schema = Readonly<Record<string, unknown>>;

const deepest = 10;
/** A grammar cannot be built from these. */
const unsupported = ['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];

/** The root is an object; every object closes its properties and requires them all. */
export const checkStrict = (schema: Schema, path: string): void => {
  if (schema.type !== 'object') throw invalid(`${path}.type must be object when strict is true`);
  checkNode(schema, path, 1);
};

const checkNode = (schema: Schema, path: string, depth: number): void => {
  if (depth > deepest)
    throw invalid(`${path} is nested more than ${deepest} levels deep, which strict does not take`);
  for (const keyword of unsupported) {
    if (keyword in schema) throw invalid(`${path}.${keyword} is not supported when strict is true`);
  }
  if (isObject(schema.properties) || schema.type === 'object') checkObject(schema, path, depth);
  checkEach(schema.items, `${path}.items`, depth + 1);
  checkEach(schema.prefixItems, `${path}.prefixItems`, depth + 1);
  checkEach(schema.anyOf, `${path}.anyOf`, depth + 1);
  checkNamed(schema.$defs, `${path}.$defs`, depth);
  checkNamed(schema.definitions, `${path}.definitions`, depth);
};

const checkObject = (schema: Schema, path: string, depth: number): void => {
  if (schema.additionalProperties !== false)
    throw invalid(`${path}.additionalProperties must be false when strict is true`);
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const known = new Set(required);
  for (const name of Object.keys(isObject(schema.properties) ? schema.properties : {})) {
    if (!known.has(name))
      throw invalid(`${path}.required must list every property when strict is true: ${name} is missing`);
  }
  checkNamed(schema.properties, `${path}.properties`, depth + 1);
};

const checkEach = (value: unknown, path: string, depth: number): void => {
  if (Array.isArray(value)) {
    value.forEach((item, at) => {
      if (isObject(item)) checkNode(item, `${path}[${at}]`, depth);
    });
  } else if (isObject(value)) checkNode(value, path, depth);
};

const checkNamed = (value: unknown, path: string, depth: number): void => {
  if (!isObject(value)) return;
  for (const [name, item] of Object.entries(value))
    if (isObject(item)) checkNode(item, `${path}.${name}`, depth);
};
