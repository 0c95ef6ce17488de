/** The reference of the HTTP API: a page for each group of the OpenAPI document, with the document's examples. */
import { slugOf } from '../../../docs/.vitepress/links.ts';
import { startGateway } from '../../gateway.ts';
import { describe, fieldsOf, type Lookup, resolved, type Schema, typeOf } from './fields.ts';
import { code, joined, jsonBlock, opening, plain, table } from './page.ts';

interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
type Content = Readonly<Record<string, Media>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly description?: string; readonly content?: Content }>
  >;
}

export interface Document {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
  };
}

const base = 'http://127.0.0.1:8787/v1';

/** Levels of fields that are listed; deeper ones are in the document itself. */
const deepest = 3;

interface Route {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const routesOf = (document: Document, tag: string): readonly Route[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({
        title: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        operation,
      })),
  );

export const fileOf = (tag: string): string => `${slugOf(tag)}.md`;

/** Pages by name, below `docs/reference/api`. */
export const apiPages = (document: Document): ReadonlyMap<string, string> => {
  const lookup: Lookup = (reference) => {
    const found = document.components.schemas[reference.replace('#/components/schemas/', '')];
    if (found === undefined) throw new Error(`no schema ${reference}`);
    return found;
  };
  const tags = document.tags.filter(({ name }) => routesOf(document, name).length > 0);
  const pages = tags.map(
    ({ name, description }) => [fileOf(name), groupPage(document, name, description, lookup)] as const,
  );
  return new Map([['README.md', overview(document, tags)], ...pages]);
};

/** Of a gateway that is started for it. */
export const readDocument = async (): Promise<Document> => {
  const gateway = await startGateway();
  try {
    return (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Document;
  } finally {
    await gateway.stop();
  }
};

const source = "the gateway's own OpenAPI document";

const overview = (document: Document, tags: Document['tags']): string =>
  joined([
    opening(
      'API reference',
      'Every route of the public API, from its OpenAPI document. The gateway serves the document at `GET /v1/openapi.json` and shows it at `/docs/`. [API by example](../../api.md) has a command and a real response for each route; the [admin API](../../admin-api.md) is another document.',
      source,
    ),
    plain(document.info.description),
    ...tags.flatMap(({ name, description }) => [
      `## ${name}`,
      plain(description),
      table(
        ['Route', ''],
        routesOf(document, name).map(({ title, operation }) => [
          `[${code(title)}](${fileOf(name)}#${slugOf(title)})`,
          plain(operation.summary),
        ]),
      ),
    ]),
  ]);

const groupPage = (document: Document, tag: string, description: string, lookup: Lookup): string =>
  joined([
    opening(`${tag} API`, plain(description), source),
    ...routesOf(document, tag).flatMap((route) => routeParts(document, route, lookup)),
  ]);

const routeParts = (document: Document, route: Route, lookup: Lookup): readonly string[] => {
  const { operation } = route;
  const { parameters, requestBody, responses, description, summary, security } = operation;
  return [
    `## ${route.title}`,
    `${plain(summary)}.${security?.length === 0 ? ' Public: it needs no key.' : ''}`,
    ...(description === undefined ? [] : [plain(description)]),
    ...(parameters.length === 0 ? [] : ['**Parameters**', parameterTable(parameters, lookup)]),
    ...(requestBody === undefined ? [] : bodyParts(route, requestBody.content, lookup)),
    ...responseParts(responses, lookup),
    ...errorParts(document, responses),
  ];
};

const parameterTable = (parameters: readonly Parameter[], lookup: Lookup): string =>
  table(
    ['Name', 'In', 'Type', ''],
    parameters.map(({ name, in: place, required, description, schema }) => [
      code(name),
      place,
      `${typeOf(schema, lookup)}${required && place !== 'path' ? ', required' : ''}`,
      plain(description ?? ''),
    ]),
  );

const fieldTable = (schema: Schema, lookup: Lookup): string | undefined => {
  const fields = fieldsOf(schema, { lookup, deepest });
  if (fields.length === 0) return undefined;
  return table(
    ['Field', 'Type', ''],
    fields.map((field) => [
      code(field.path),
      `${typeOf(field.schema, lookup)}${field.required ? ', required' : ''}`,
      describe(field.schema),
    ]),
  );
};

const bodyParts = (route: Route, content: Content, lookup: Lookup): readonly string[] => {
  const [[, first] = ['', undefined]] = Object.entries(content);
  const fields = first === undefined ? undefined : fieldTable(first.schema, lookup);
  return [
    `**Request**: ${Object.keys(content).map(code).join(' or ')}`,
    ...(fields === undefined ? [] : [fields]),
    ...Object.entries(content).flatMap(([type, media]) =>
      Object.entries(media.examples ?? {}).flatMap(([name, { value }]) =>
        type === 'application/json' ? [`${plain(name)}:`, curl(route, value)] : [],
      ),
    ),
  ];
};

/** For the reader to copy; the test of the guide runs such commands. */
const curl = ({ method, path }: Route, body: unknown): string => {
  const text = jsonBlock(body).split('\n').slice(1, -1).join('\n').replaceAll("'", "'\\''");
  const verb = method === 'POST' ? '' : ` -X ${method}`;
  return `\`\`\`sh\ncurl${verb} ${base}${path} -H "Authorization: Bearer $SLUICE_KEY" --json '${text}'\n\`\`\``;
};

const responseParts = (responses: Operation['responses'], lookup: Lookup): readonly string[] =>
  Object.entries(responses)
    .filter(([status]) => status < '300')
    .flatMap(([status, { description = '', content = {} }]) => [
      `**${status}**: ${plain(description)}${Object.keys(content).length === 0 ? '' : `, ${Object.keys(content).map(code).join(' or ')}`}`,
      ...Object.entries(content).flatMap(([type, media]) => [
        ...(type === 'application/json' ? [fieldTable(resolved(media.schema, lookup), lookup) ?? ''] : []),
        ...Object.entries(media.examples ?? {}).flatMap(([name, { value }]) => [
          `${plain(name)}:`,
          typeof value === 'string' ? `\`\`\`text\n${value.trimEnd()}\n\`\`\`` : jsonBlock(value),
        ]),
      ]),
    ])
    .filter((part) => part !== '');

const errorParts = (document: Document, responses: Operation['responses']): readonly string[] => {
  const rows = Object.entries(responses)
    .filter(([status]) => status >= '400')
    .map(([status, { $ref, description }]) => {
      const shared = document.components.responses[($ref ?? '').replace('#/components/responses/', '')];
      return [status, plain(description ?? shared?.description ?? '')];
    });
  return rows.length === 0 ? [] : [`**[Errors](../errors.md)**`, table(['Status', ''], rows)];
};
