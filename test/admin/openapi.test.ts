/** Tests that the OpenAPI document of the admin API says what its routes and fields mean. */
import t from 'tap';
import { startGateway } from '../gateway.ts';
import { adminEnv, adminOf } from './client.ts';

interface Schema {
  readonly description?: string;
  readonly const?: unknown;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** Shared with the public document, whose suite checks them. */
const shared = /^ErrorEnvelope|List\.(data|first_id|last_id|has_more)|^AdminUsageList\.data|^Deleted\w+\.id$/;

const isDescribed = ({ description, const: literal, $ref, anyOf = [] }: Schema): boolean =>
  (description ?? literal ?? $ref) !== undefined || anyOf.some(isDescribed);

const undescribed = (name: string, schema: Schema): readonly string[] => [
  ...Object.entries(schema.properties ?? {}).flatMap(([field, inner]) => [
    ...(isDescribed(inner) ? [] : [`${name}.${field}`]),
    ...undescribed(`${name}.${field}`, inner),
  ]),
  ...(schema.items === undefined ? [] : undescribed(name, schema.items)),
  ...(schema.anyOf ?? []).flatMap((inner) => undescribed(name, inner)),
];

t.test('every route has a summary, and every field a description', async (t) => {
  const gateway = await startGateway({ env: adminEnv });
  t.teardown(() => gateway.stop());
  const { body } = await adminOf(gateway)('GET', '/openapi.json');
  const operations = Object.values<Record<string, Operation>>(body.paths).flatMap((methods) =>
    Object.values(methods),
  );
  t.ok(operations.length > 45);
  for (const { operationId, summary, parameters = [], requestBody } of operations) {
    t.ok(summary.length > 0, operationId);
    const query = parameters.filter((each) => each.in === 'query' && each.name !== 'limit');
    for (const { name, description } of query) t.ok(description, `${operationId} ${name}`);
    for (const { schema } of Object.values(requestBody?.content ?? {}))
      t.strictSame(undescribed(operationId, schema), []);
  }
  const found = Object.entries<Schema>(body.components.schemas).flatMap(([name, schema]) =>
    undescribed(name, schema),
  );
  t.strictSame(
    found.filter((field) => !shared.test(field)),
    [],
  );
});

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
