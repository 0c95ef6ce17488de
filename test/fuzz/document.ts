/** Flattens our OpenAPI document into a list of operations with their inputs and responses. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** As much of JSON Schema as the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;
interface Response {
  readonly content?: Content;
}
interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: Schema;
}
interface DocumentedOperation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Below `/v1`, with its parameters in braces. */
  readonly path: string;
  readonly isPublic: boolean;
  readonly query: readonly Parameter[];
  /** Schemas of request bodies by media type; empty: it takes none. */
  readonly bodies: Readonly<Record<string, Schema>>;
  readonly success: { readonly status: number; readonly content: Readonly<Record<string, Schema>> };
  /** Every status it says it may answer. */
  readonly statuses: ReadonlySet<number>;
}

export const operationsOf = ({ paths }: OpenApi): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, documented]) => toOperation(method, path, documented)),
  );

const toOperation = (method: string, path: string, documented: DocumentedOperation): Operation => {
  const statuses = Object.keys(documented.responses).map(Number);
  const status = statuses.find((each) => each < 300) ?? 200;
  return {
    id: documented.operationId,
    method: method.toUpperCase(),
    path,
    isPublic: documented.security?.length === 0,
    query: documented.parameters.filter((parameter) => parameter.in === 'query'),
    bodies: schemasOf(documented.requestBody?.content),
    success: { status, content: schemasOf(documented.responses[status]?.content) },
    statuses: new Set(statuses),
  };
};

const schemasOf = (content: Content = {}): Record<string, Schema> =>
  Object.fromEntries(Object.entries(content).map(([mediaType, { schema }]) => [mediaType, schema]));

export const resolved = (schema: Schema, { components }: OpenApi): Schema =>
  schema.$ref === undefined
    ? schema
    : (components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});
