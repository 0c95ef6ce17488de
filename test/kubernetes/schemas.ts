/** Writes strict JSON schemas for kubeconform, from the OpenAPI documents of Kubernetes and from CRDs. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { crdsFolder, openApiFile } from './tools.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Schema = { readonly [name: string]: Json };

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const draft = 'http://json-schema.org/draft-07/schema#';
const isObject = (json: Json | undefined): json is Schema =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** An unknown field is an error; numbers that Kubernetes takes as text may be numbers. */
const strict = (schema: Schema): Schema => {
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true)
    return { type: ['string', 'integer'] };
  const entries = Object.entries(schema)
    .filter(([name]) => name !== 'format' && name !== 'description' && !name.startsWith('x-kubernetes-'))
    .map(([name, value]) => [name, name === 'properties' ? strictAll(value) : strictBelow(value)] as const);
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || 'additionalProperties' in schema;
  return {
    ...Object.fromEntries(entries),
    ...(isObject(schema.properties) && !open && { additionalProperties: false }),
  };
};

const strictBelow = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((each: Json) => strictBelow(each));
  return isObject(value) ? strict(value) : value;
};

/** Its members are named by users of the schema, not by JSON Schema. */
const strictAll = (value: Json): Json =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, below]) => [name, strictBelow(below)]))
    : value;

const fileOf = ({ group, version, kind }: Kind): string =>
  `${[kind, ...(group === '' ? [] : [group.split('.')[0]]), version].join('-').toLowerCase()}.json`;

/** What kubeconform makes the same name of. */
export const schemaLocation = (folder: string): string =>
  join(folder, '{{ .ResourceKind }}{{ .KindSuffix }}.json');

const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

/** Of all kinds that are named, in every version that the release has. */
export const writeSchemas = (release: string, folder: string, kinds: ReadonlySet<string>): void => {
  const { definitions } = JSON.parse(readFileSync(openApiFile(release), 'utf8')) as {
    readonly definitions: Readonly<Record<string, Schema>>;
  };
  const converted = new Map<string, Schema>();
  const convert = (name: string): Schema => {
    const known = converted.get(name);
    if (known !== undefined) return known;
    const made = name === quantity ? { type: ['string', 'number'] } : strict(definitions[name] ?? {});
    converted.set(name, made);
    return made;
  };
  for (const [name, definition] of Object.entries(definitions))
    for (const kind of (definition['x-kubernetes-group-version-kind'] ?? []) as unknown as readonly Kind[]) {
      if (!kinds.has(kind.kind)) continue;
      const used = new Map<string, Schema>();
      const collect = (schema: Schema): void => {
        for (const [, below] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g))
          if (below !== undefined && !used.has(below)) {
            used.set(below, convert(below));
            collect(convert(below));
          }
      };
      const own = convert(name);
      collect(own);
      const schema = { $schema: draft, ...own, definitions: Object.fromEntries(used) };
      writeFileSync(join(folder, fileOf(kind)), JSON.stringify(schema));
    }
};

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

export const readCrds = (): readonly Crd[] =>
  readdirSync(crdsFolder).map((file) => parse(readFileSync(join(crdsFolder, file), 'utf8')) as Crd);

export const writeCrdSchemas = (folder: string): void => {
  for (const { spec } of readCrds())
    for (const { name: version, schema } of spec.versions)
      writeFileSync(
        join(folder, fileOf({ group: spec.group, version, kind: spec.names.kind })),
        JSON.stringify({ $schema: draft, ...strict(schema.openAPIV3Schema) }),
      );
};
