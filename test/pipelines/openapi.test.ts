/** Tests the OpenAPI document: everything in it is described, and its examples are valid. */
import t from 'tap';
import { Compile } from 'typebox/compile';
import { validate } from '../../pipelines/core/validate.ts';
import { routes } from '../../pipelines/routes.ts';
import { ErrorEnvelope, MessagesError } from '../../schemas/openapi.ts';
import { startGateway } from '../gateway.ts';

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}
interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
type Content = Readonly<Record<string, MediaType>>;
interface Reply {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Content;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Reply>>;
}
interface OpenApi {
  readonly info: { readonly description: string };
  readonly servers: readonly { readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Reply>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  };
}

/** Whether a description says more than the name does. */
const says = (description: unknown, name: string): boolean => {
  const letters = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return typeof description === 'string' && description.length > 4 && letters(description) !== letters(name);
};

const dataOf = (stream: string): readonly unknown[] =>
  [...stream.matchAll(/^data: (.*)$/gm)]
    .filter(([, data]) => data !== '[DONE]')
    .map(([, data = '']) => JSON.parse(data));

t.test('the OpenAPI document', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  const response = await fetch(`${gateway.url}/openapi.json`);
  const document = (await response.json()) as OpenApi;
  const { components } = document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      ...operation,
    })),
  );

  /** Every field below the schema, by its path; a component is looked at once. */
  const fieldsOf = (schema: Schema, path: string, seen: Set<string>): [string, string, Schema][] => {
    if (schema.$ref !== undefined) {
      if (seen.has(schema.$ref)) return [];
      seen.add(schema.$ref);
      return fieldsOf(resolved(schema), path, seen);
    }
    const { properties = {}, items, anyOf = [], additionalProperties } = schema;
    return [
      ...Object.entries(properties).flatMap(([name, field]): [string, string, Schema][] => [
        [`${path}.${name}`, name, field],
        ...fieldsOf(field, `${path}.${name}`, seen),
      ]),
      ...(items === undefined ? [] : fieldsOf(items, `${path}[]`, seen)),
      ...anyOf.flatMap((part) => fieldsOf(part, path, seen)),
      ...(typeof additionalProperties === 'object' ? fieldsOf(additionalProperties, `${path}.*`, seen) : []),
    ];
  };
  const resolved = (schema: Schema): Schema =>
    components.schemas[schema.$ref?.replace('#/components/schemas/', '') ?? ''] ?? schema;

  t.test('describes every operation, parameter and header', async (t) => {
    t.ok(operations.length > 60);
    t.ok(says(document.info.description, 'Sluice'));
    t.ok(says(document.servers[0]?.description, 'server'));
    const tags = new Map(document.tags.map(({ name, description }) => [name, description]));
    for (const operation of operations) {
      const { name } = operation;
      t.match(operation.operationId, /^[a-z]+[A-Za-z0-9]+$/, name);
      t.ok(says(operation.summary, operation.operationId), `${name}: summary`);
      t.notMatch(operation.summary, /\.$|\n/, `${name}: summary is one line`);
      t.ok(says(operation.description, operation.summary), `${name}: description`);
      t.match(operation.description, /\.$/, `${name}: description is made of sentences`);
      for (const tag of operation.tags) t.ok(says(tags.get(tag), tag), `tag ${tag}`);
      for (const parameter of operation.parameters)
        t.ok(says(parameter.description, parameter.name), `${name}: parameter ${parameter.name}`);
    }
    t.same(
      [...tags.keys()].filter((tag) => !operations.some(({ tags }) => tags.includes(tag))),
      [],
      'tags without operations',
    );
    for (const [name, { description }] of Object.entries({
      ...components.headers,
      ...components.securitySchemes,
    }))
      t.ok(says(description, name), name);
    const replies = operations.flatMap(({ responses }) => Object.values(responses));
    for (const { headers = {} } of [...replies, ...Object.values(components.responses)])
      for (const { $ref } of Object.values(headers))
        t.ok(components.headers[$ref.replace('#/components/headers/', '')], $ref);
  });

  t.test('describes every field of requests', async (t) => {
    const seen = new Set<string>();
    const fields = operations.flatMap(({ name, requestBody }) =>
      Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => fieldsOf(schema, name, seen)),
    );
    t.ok(fields.length > 300);
    t.same(
      fields
        .filter(([, name, field]) => !says(field.description ?? resolved(field).description, name))
        .map(([path]) => path),
      [],
    );
  });

  t.test('says something wherever it describes a field of a response', async (t) => {
    const fields = Object.entries(components.schemas).flatMap(([title, schema]) =>
      fieldsOf(schema, title, new Set()),
    );
    t.same(
      fields
        .filter(([, name, field]) => 'description' in field && !says(field.description, name))
        .map(([path]) => path),
      [],
    );
  });

  t.test('has an example of every operation and of every body', async (t) => {
    for (const { name, parameters, requestBody, responses } of operations) {
      const success = Object.entries(responses).find(([status]) => status < '300')?.[1];
      for (const [mediaType, { examples }] of Object.entries(requestBody?.content ?? {}))
        t.ok(Object.keys(examples ?? {}).length > 0, `${name}: request, ${mediaType}`);
      const texts = Object.entries(success?.content ?? {}).filter(([mediaType]) =>
        /json|text/.test(mediaType),
      );
      for (const [mediaType, { examples }] of texts)
        t.ok(Object.keys(examples ?? {}).length > 0, `${name}: response, ${mediaType}`);
      // Without bodies of text, what is sent stands in the address.
      if (requestBody === undefined && texts.length === 0)
        t.ok(
          parameters.some(({ schema }) => schema.examples !== undefined),
          `${name}: parameters`,
        );
    }
  });

  t.test('has valid examples', async (t) => {
    let checked = 0;
    for (const { method, path, doc } of routes(gateway.ports)) {
      const name = `${method} ${path}`;
      for (const [mediaType, examples] of Object.entries(doc?.examples?.request ?? {})) {
        const schema = doc?.body?.[mediaType];
        if (schema === undefined) throw new Error(`${name} takes no ${mediaType}`);
        const read = validate(schema);
        for (const [title, example] of Object.entries(examples)) {
          t.doesNotThrow(() => read(structuredClone(example)), `${name}: ${title}`);
          checked++;
        }
      }
      for (const [mediaType, examples] of Object.entries(doc?.examples?.response ?? {})) {
        const schema = doc?.response?.[mediaType];
        if (schema === undefined) throw new Error(`${name} does not return ${mediaType}`);
        const check = Compile(schema);
        for (const [title, example] of Object.entries(examples)) {
          const parts = mediaType === 'text/event-stream' ? dataOf(String(example)) : [example];
          t.ok(parts.length > 0, `${name}: ${title}`);
          for (const part of parts) t.same([...check.Errors(part)], [], `${name}: ${title}`);
          checked++;
        }
      }
    }
    t.ok(checked > 120, `${checked} examples`);
    const shapes = [Compile(ErrorEnvelope), Compile(MessagesError)];
    for (const [name, { content }] of Object.entries(components.responses)) {
      const values = Object.values(content?.['application/json']?.examples ?? {}).map(({ value }) => value);
      t.ok(values.length > 0, name);
      for (const value of values)
        t.ok(
          shapes.some((shape) => shape.Check(value)),
          name,
        );
    }
  });
});
