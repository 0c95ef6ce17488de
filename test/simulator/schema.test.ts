/** Tests generated instances of JSON Schemas against an independent validator. */
import fc from 'fast-check';
import t from 'tap';
import { Check } from 'typebox/schema';
import { Random } from '../../src/simulator/random.ts';
import { Allowance, SchemaProblem } from '../../src/simulator/schema/budget.ts';
import { schemaInstance } from '../../src/simulator/schema/instance.ts';

fc.configureGlobal({ seed: 20260101 });

const words = { topics: ['tides', 'harbour'], hints: ['Paris', '7', 'New York'] };
const make = (schema: unknown, seed: number): unknown =>
  schemaInstance(schema, new Random(seed), words, new Allowance());
const isValid = (schema: Record<string, unknown> | boolean, value: unknown): boolean => Check(schema, value);

const tree = {
  $defs: {
    node: {
      type: 'object',
      properties: {
        value: { type: 'integer' },
        next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
      },
      required: ['value', 'next'],
      additionalProperties: false,
    },
  },
  $ref: '#/$defs/node',
};

const expression = {
  $defs: {
    expression: { oneOf: [{ $ref: '#/$defs/sum' }, { $ref: '#/$defs/literal' }] },
    literal: {
      type: 'object',
      properties: { kind: { const: 'literal' }, value: { type: 'number' } },
      required: ['kind', 'value'],
    },
    sum: {
      type: 'object',
      properties: {
        kind: { const: 'sum' },
        terms: { type: 'array', items: { $ref: '#/$defs/expression' }, minItems: 2 },
      },
      required: ['kind', 'terms'],
    },
  },
  $ref: '#/$defs/expression',
};

const schemas: readonly (Record<string, unknown> | true)[] = [
  true,
  {},
  { type: 'null' },
  { type: 'boolean' },
  { type: 'string' },
  { type: ['null', 'integer'] },
  { type: ['string', 'null'], enum: ['a', null] },
  { const: { deep: [1, 2, { three: 3 }] } },
  { enum: [1, 'two', null, [3]] },
  { type: 'string', enum: [1, 'two', null] },
  // numbers
  { type: 'integer', minimum: 5, maximum: 5 },
  { type: 'integer', exclusiveMinimum: 5, exclusiveMaximum: 7 },
  { type: 'integer', minimum: -20, maximum: -10, multipleOf: 5 },
  { type: 'integer', multipleOf: 0.5, minimum: 3 },
  { type: 'number', minimum: 0.1, maximum: 0.2 },
  { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.001 },
  { type: 'number', multipleOf: 0.01, minimum: 1, maximum: 2 },
  { type: 'number', maximum: -1e12 },
  { minimum: 10 },
  // strings
  { type: 'string', minLength: 20, maxLength: 22 },
  { type: 'string', maxLength: 1 },
  { type: 'string', maxLength: 0 },
  { type: 'string', minLength: 300 },
  ...[
    '^[A-Z]{3}-\\d{4}$',
    '^(?:\\+\\d{1,3} )?\\(?\\d{3}\\)?[ .-]?\\d{3}$',
    '^#(?:[0-9a-fA-F]{3}){1,2}$',
    '^(red|green|blue)(-(light|dark))?$',
    '^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$',
    '^\\w+(\\.\\w+)*$',
    '\\d+',
    '^v\\d+\\.\\d+\\.\\d+(?:-[a-z]+\\.\\d+)?$',
    '^[\\u4e00-\\u9fa5]{2}👋$',
    '^[a-z]{2,3}?$',
    '^\\p{Lu}\\p{Ll}+$',
    '^.{3,5}$',
    '^(?<year>\\d{4})$|^n/a$',
  ].map((pattern) => ({ type: 'string', pattern })),
  { type: 'string', pattern: '^[a-z]+$', minLength: 30, maxLength: 40 },
  { type: 'string', pattern: '^((a+)+)+$' },
  { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$', format: 'date' },
  { type: 'string', pattern: '^[a-z]+$', enum: ['A', 'b', 'CC'] },
  { oneOf: [{ type: 'string', format: 'uuid' }, { type: 'integer' }] },
  ...[
    'date-time',
    'date',
    'time',
    'duration',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uri',
    'uri-reference',
    'uuid',
    'json-pointer',
    'regex',
    'url',
    'constructor',
  ].map((format) => ({ type: 'string', format })),
  // arrays
  { type: 'array' },
  { type: 'array', items: { type: 'integer' }, minItems: 5, maxItems: 5 },
  { type: 'array', items: { enum: [1, 2, 3, 4] }, minItems: 3, uniqueItems: true },
  { type: 'array', maxItems: 0 },
  { type: 'array', prefixItems: [{ const: 'a' }, { type: 'boolean' }], items: false, minItems: 2 },
  { type: 'array', prefixItems: [{ const: 'a' }], items: { type: 'number' }, minItems: 3 },
  { type: 'array', items: { type: 'integer' }, contains: { const: 7 } },
  { items: { type: 'string' } },
  // objects
  { type: 'object' },
  { type: 'object', required: ['a', 'b'] },
  { type: 'object', required: ['a'], additionalProperties: { type: 'integer' } },
  { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
  { type: 'object', minProperties: 3, additionalProperties: { type: 'boolean' } },
  { type: 'object', properties: { a: {}, b: {}, c: {} }, maxProperties: 2 },
  { type: 'object', properties: { a: true, b: false }, required: ['a'] },
  { type: 'object', properties: { a: {}, b: {} }, dependentRequired: { a: ['c'] } },
  { type: 'object', patternProperties: { '^.*$': { type: 'number' } } },
  {
    type: 'object',
    propertyNames: { enum: ['x', 'y'] },
    minProperties: 2,
    additionalProperties: { type: 'null' },
  },
  {
    type: 'object',
    properties: { ['__proto__']: { type: 'string' }, toString: { type: 'integer' } },
    required: ['toString'],
  },
  {
    type: 'object',
    properties: {
      person: {
        type: 'object',
        properties: {
          name: { type: 'string', minLength: 1 },
          emails: { type: 'array', items: { type: 'string', format: 'email' }, minItems: 1 },
          address: { type: 'object', properties: { street: { type: 'string' } }, required: ['street'] },
        },
        required: ['name', 'emails', 'address'],
        additionalProperties: false,
      },
    },
    required: ['person'],
    additionalProperties: false,
  },
  // branches
  { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  {
    oneOf: [
      { type: 'integer', multipleOf: 3 },
      { type: 'integer', multipleOf: 5 },
    ],
  },
  { oneOf: [{ type: 'number' }, { type: 'integer' }] },
  { allOf: [{ type: 'integer', minimum: 3 }, { maximum: 4 }, { type: 'number' }] },
  {
    allOf: [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { properties: { b: { type: 'integer' }, a: { maxLength: 3 } }, required: ['b'] },
    ],
  },
  {
    type: 'object',
    properties: { a: {} },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
    additionalProperties: true,
  },
  { type: 'string', anyOf: [{ type: 'integer' }, { minLength: 4 }] },
  { not: { type: 'string' } },
  { type: 'integer', minimum: 0, maximum: 3, not: { enum: [0, 1, 2] } },
  {
    type: 'object',
    properties: { country: { enum: ['us', 'de'] }, zip: { type: 'string' } },
    required: ['country'],
    if: { properties: { country: { const: 'us' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['zip'] },
    else: { properties: { zip: { maxLength: 2 } } },
  },
  // references and recursion
  tree,
  expression,
  {
    definitions: { id: { type: 'integer', minimum: 1 } },
    type: 'object',
    properties: { id: { $ref: '#/definitions/id' } },
    required: ['id'],
  },
  {
    type: 'object',
    properties: { children: { type: 'array', items: { $ref: '#' } } },
    required: ['children'],
  },
  {
    type: 'object',
    properties: { left: { $ref: '#' }, right: { $ref: '#' }, value: { type: 'integer' } },
    required: ['value'],
  },
  { $defs: { 'odd/name~': { const: 1 } }, $ref: '#/$defs/odd~1name~0' },
  {
    type: 'object',
    properties: { a: { $ref: '#/properties/b' }, b: { type: 'boolean' } },
    required: ['a', 'b'],
  },
];

t.test('a table of schemas, each with several seeds', async (t) => {
  for (const schema of schemas) {
    for (let seed = 0; seed < 12; seed += 1) {
      const value = make(schema, seed);
      if (!isValid(schema, JSON.parse(JSON.stringify(value)))) {
        t.fail(`${JSON.stringify(schema)} is not met by ${JSON.stringify(value)}`);
      }
    }
    t.same(make(schema, 3), make(schema, 3), JSON.stringify(schema).slice(0, 80));
  }
});

t.test('optional properties are generated, and words come from the question', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer', minimum: 1, maximum: 14 },
      destination: { type: 'string' },
      summary: { type: 'string' },
    },
  };
  const value = make(schema, 1) as Record<string, unknown>;
  t.match(value, { city: 'Paris', days: 7, destination: 'New York', summary: /^[A-Z].* .*\.$/ });
});

t.test('unsatisfiable schemas are refused with a reason', async (t) => {
  const doubling: Record<string, unknown> = {};
  for (let level = 0; level < 30; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    doubling[`d${level}`] = { allOf: [next, next] };
  }
  doubling.d30 = {};
  const cases: [unknown, RegExp][] = [
    [false, /allows no value at all/],
    [{ enum: [] }, /no enum value/],
    [{ type: 'integer', minimum: 5, maximum: 4 }, /no number between its bounds/],
    [{ type: 'integer', minimum: 0.1, maximum: 0.9 }, /no number between its bounds/],
    [{ type: 'string', minLength: 5, maxLength: 4 }, /longer than its own "maxLength"/],
    [{ type: 'string', minLength: 1e9 }, /more text than the simulator makes/],
    [{ type: 'array', minItems: 3, maxItems: 2 }, /more items than it allows/],
    [{ type: 'array', minItems: 1e9 }, /more than 2000 items/],
    [{ type: 'array', items: { const: 1 }, minItems: 2, uniqueItems: true }, /different items/],
    [{ type: 'object', minProperties: 2, additionalProperties: false }, /more properties than it allows/],
    [{ allOf: [{ type: 'string' }, { type: 'integer' }] }, /cannot be both string and integer/],
    [{ allOf: [{ enum: [1] }, { enum: [2] }] }, /all of its enums/],
    [{ type: 'object', required: ['self'], properties: { self: { $ref: '#' } } }, /without end/],
    [{ $ref: '#' }, /without end/],
    [{ allOf: [{ $ref: '#' }] }, /without end/],
    [{ $ref: '#/$defs/missing' }, /refers to "#\/\$defs\/missing", which is not in it/],
    [{ $ref: 'https://example.com/schema' }, /which is not in it/],
    [{ $ref: '#/%ff' }, /which is not in it/],
    [{ $ref: '#/__proto__' }, /which is not in it/],
    [{ type: 'string', pattern: '^(?=a)b$' }, /cannot follow/],
    [{ type: 'string', pattern: '(a)\\1' }, /cannot follow/],
    [{ type: 'string', pattern: 'a\\b' }, /cannot follow/],
    [{ type: 'string', pattern: 'a^b' }, /cannot follow/],
    [{ type: 'string', pattern: 'x(^a)' }, /cannot follow/],
    [{ type: 'string', pattern: '(a$)b' }, /cannot follow/],
    [{ type: 'string', pattern: '(' }, /cannot follow/],
    [{ type: 'string', pattern: '[]' }, /cannot follow/],
    [{ type: 'string', pattern: '[z-a]' }, /cannot follow/],
    [{ type: 'string', pattern: '\\p{constructor}' }, /cannot follow/],
    [{ type: 'string', pattern: 'a{5000}' }, /cannot follow/],
    [{ type: 'string', pattern: 'a'.repeat(2000) }, /too long/],
    [{ type: 'string', pattern: '^abc$', maxLength: 2 }, /does not go with its length/],
    [
      { type: 'string', pattern: '((((a{999}){999}){999}){999})', maxLength: 5 },
      /does not go with its length/,
    ],
    [
      { type: 'object', properties: { a: {} }, required: ['a'], patternProperties: { a: {} } },
      /patternProperties/,
    ],
    [{ allOf: [{ pattern: 'a' }, { pattern: 'b' }] }, /two values of "pattern"/],
    [{ $defs: doubling, $ref: '#/$defs/d0' }, /too complex/],
    [{ $defs: doubling, not: { $ref: '#/$defs/d0' } }, /too complex|no value/],
    [{ not: {} }, /no value/],
  ];
  for (const [schema, reason] of cases) {
    t.throws(() => make(schema, 1), reason, JSON.stringify(schema).slice(0, 70));
  }
});

const leaf = fc.oneof(
  fc.constantFrom<Record<string, unknown>>(
    { type: 'null' },
    { type: 'boolean' },
    { enum: ['a', 'b', 3] },
    { const: 'fixed' },
    { type: 'string', format: 'uuid' },
    { type: 'string', pattern: '^[a-c]{1,4}$' },
    {},
  ),
  fc
    .tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 50 }))
    .map(([minimum, size]) => ({ type: 'integer', minimum, maximum: minimum + size })),
  fc
    .tuple(fc.nat(30), fc.nat(30))
    .map(([minLength, size]) => ({ type: 'string', minLength, maxLength: minLength + size })),
);

const { schema: anySchema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .record({ items: tie('schema'), minItems: fc.nat(3), spare: fc.nat(3) })
      .map(({ items, minItems, spare }) => ({ type: 'array', items, minItems, maxItems: minItems + spare })),
    fc
      .record({
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('schema')),
        required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd')),
        additionalProperties: fc.boolean(),
      })
      .map((object) => ({
        ...object,
        type: 'object',
        required: object.required.filter((name) => object.additionalProperties || name in object.properties),
      })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((oneOf) => ({ oneOf })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
    fc.tuple(tie('schema'), leaf).map(([schema, not]) => ({ allOf: [schema], not })),
  ),
}));

t.test('any schema gets a valid instance or a refusal, never a wrong one', async () => {
  fc.assert(
    fc.property(anySchema, fc.nat(), (schema, seed) => {
      let value: unknown;
      try {
        value = make(schema, seed);
      } catch (thrown) {
        return thrown instanceof SchemaProblem;
      }
      return isValid(schema, value);
    }),
    { numRuns: 400 },
  );
});

t.test('consistent schemas of objects, arrays and choices always get an instance', async () => {
  const { schema: sound } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      tie('schema').map((items) => ({ type: 'array', items, minItems: 1 })),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')).map((properties) => ({
        type: 'object',
        properties,
        required: Object.keys(properties),
        additionalProperties: false,
      })),
      fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    ),
  }));
  fc.assert(
    fc.property(sound, fc.nat(), (schema, seed) => isValid(schema, make(schema, seed))),
    { numRuns: 300 },
  );
});
