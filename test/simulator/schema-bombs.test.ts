/** Schemas that ask for endless work: each is answered or refused within a few milliseconds. */
import fc from 'fast-check';
import t from 'tap';
import { Random } from '../../src/simulator/random.ts';
import { Allowance, SchemaProblem } from '../../src/simulator/schema/budget.ts';
import { schemaInstance } from '../../src/simulator/schema/instance.ts';
import { envelope } from '../envelope.ts';
import { startGateway } from '../gateway.ts';
import { orLong } from '../long.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const listOf = <T>(length: number, make: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => make(index));
const namesOf = (length: number): string[] => listOf(length, (index) => `p${index}`);
const properties = (length: number, schema: unknown): Schema =>
  Object.fromEntries(namesOf(length).map((name) => [name, schema]));
const nested = (levels: number, wrap: (inner: unknown) => unknown, leaf: unknown = text): unknown => {
  let schema = leaf;
  for (let level = 0; level < levels; level += 1) schema = wrap(schema);
  return schema;
};
const array = (minItems: number, items: unknown, more: Schema = {}): Schema => ({
  type: 'array',
  items,
  minItems,
  ...more,
});
/** Each level refers to the next several times. */
const doubling = (levels: number, make: (next: Schema) => Schema): Schema => {
  const $defs: Record<string, unknown> = { [`d${levels}`]: text };
  for (let level = 0; level < levels; level += 1)
    $defs[`d${level}`] = make({ $ref: `#/$defs/d${level + 1}` });
  return { $defs, $ref: '#/$defs/d0' };
};
const shared = (size: number): Schema => ({ type: 'object', properties: properties(size, text) });
const longEnum = { enum: namesOf(20_000) };

const bombs: Readonly<Record<string, unknown>> = {
  'allOf that doubles': doubling(30, (next) => ({ allOf: [next, next] })),
  'anyOf that doubles': doubling(30, (next) => ({ anyOf: [next, next] })),
  'oneOf that doubles': doubling(30, (next) => ({ oneOf: [next, next] })),
  'not that doubles': doubling(30, (next) => ({ not: { anyOf: [next, next] } })),
  'properties to the power of ten': doubling(12, (next) => ({
    type: 'object',
    properties: properties(10, next),
    required: namesOf(10),
  })),
  'allOf, deep': nested(5000, (inner) => ({ allOf: [inner] })),
  'objects, deep': nested(90, (inner) => ({
    type: 'object',
    properties: { a: inner, b: inner, c: inner },
    required: ['a'],
  })),
  'a chain of references': {
    $defs: Object.fromEntries(listOf(5000, (at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }])),
    $ref: '#/$defs/d0',
  },
  'conditions, deep': nested(40, (inner) => ({ if: inner, else: inner })),
  'required properties, wide': {
    type: 'object',
    properties: properties(50_000, text),
    required: namesOf(50_000),
  },
  'optional properties, wide': shared(50_000),
  'references to something wide': {
    $defs: { big: shared(2000) },
    type: 'object',
    properties: properties(2000, { $ref: '#/$defs/big' }),
  },
  'something wide merged a thousand times': {
    $defs: { big: shared(2000) },
    allOf: listOf(1000, () => ({ $ref: '#/$defs/big' })),
  },
  'many parts to merge': { allOf: listOf(3000, (at) => ({ minLength: at })) },
  'a long enum, often': { $defs: { e: longEnum }, ...array(2000, { $ref: '#/$defs/e' }) },
  'a long enum, merged': { $defs: { e: longEnum }, allOf: listOf(500, () => ({ $ref: '#/$defs/e' })) },
  'an enum of objects': array(2000, { enum: listOf(2000, (at) => ({ a: [at, at] })) }, { uniqueItems: true }),
  'a large const, often': { $defs: { c: { const: namesOf(50_000) } }, ...array(200, { $ref: '#/$defs/c' }) },
  'a const, deep': { const: nested(5000, (inner) => [inner], 1) },
  'items of items': array(2000, array(2000, text)),
  'different lists': array(180, array(100, { type: 'integer' }), { uniqueItems: true }),
  'one long string': { type: 'string', minLength: 262_144 },
  'long strings': array(2000, { type: 'string', minLength: 130 }),
  'a pattern of choices': array(200, { type: 'string', pattern: '^(a?){500}a{500}$' }),
  'a pattern of repeats': array(200, { type: 'string', pattern: '^((a|b|[a-c])*)*$', minLength: 1000 }),
  'a pattern of nothing, repeated': { type: 'string', pattern: '((((((){999}){999}){999}){999}){999})a' },
  'a pattern of repeats that may be nothing': {
    type: 'string',
    pattern: '(((((((.{0,999}){0,999}){0,999}){0,999}){0,999}){0,999}){0,999})',
    minLength: 999,
  },
  'a long pattern, often': array(2000, { type: 'string', pattern: 'a?'.repeat(490) }),
  'a pattern for an enum': {
    type: 'string',
    pattern: '^(a|b|ab)*$',
    enum: listOf(5000, (at) => 'ab'.repeat(100) + at),
  },
  'a pattern beside a format': array(1000, {
    type: 'string',
    format: 'uuid',
    pattern: '^([0-9a-f-]?){30}[0-9a-f-]*$',
  }),
  'patterns, each another': array(0, text, {
    minItems: 500,
    prefixItems: listOf(500, (at) => ({ type: 'string', pattern: `[${'a-~'.repeat(300)}]{${at}}` })),
    items: undefined,
  }),
  'names by a pattern': { type: 'object', minProperties: 2000, propertyNames: { pattern: '^[a-z]{500}$' } },
  'a multiple that is hard to find': array(2000, { type: 'integer', multipleOf: 0.000_000_123_456_7 }),
  'what it must not be': array(200, { type: 'string', not: { anyOf: listOf(200, (at) => ({ const: at })) } }),
  'what it must contain': array(500, text, { contains: { anyOf: listOf(1000, (at) => ({ const: at })) } }),
  'one of many': array(500, { oneOf: listOf(2000, (at) => ({ const: at })) }),
  'names that need all others': {
    type: 'object',
    properties: properties(500, {}),
    dependentRequired: properties(500, namesOf(500)),
  },
  'recursion, wide': { type: 'object', properties: properties(20, { $ref: '#' }) },
  'a reference of many parts': array(10, { $ref: `#/${'a/'.repeat(50_000)}` }),
  'many types': { type: listOf(50_000, () => 'string') },
  'many prefix items': { type: 'array', prefixItems: listOf(50_000, () => text) },
};

const words = { topics: ['tides'], hints: [] };
const outcome = (schema: unknown, seed: number): unknown => {
  try {
    return schemaInstance(schema, new Random(seed), words, new Allowance());
  } catch (thrown) {
    if (thrown instanceof SchemaProblem) return thrown;
    throw thrown;
  }
};

/** Milliseconds of CPU: other processes of the machine do not count. */
const cpuOf = (run: () => void): number => {
  const before = process.cpuUsage();
  run();
  return process.cpuUsage(before).user / 1000;
};

/** Three runs: compiling and garbage collection count as well. */
const leastCpuOf = (run: (seed: number) => void): number =>
  Math.min(...[1, 2, 3].map((seed) => cpuOf(() => run(seed))));

/** Milliseconds on this machine, which may be slow: half as long again as the parser takes for the widest schema. */
const widest = JSON.stringify(bombs['required properties, wide']);
const most = 1.5 * leastCpuOf(() => JSON.parse(widest));

t.test('every bomb is defused', async (t) => {
  // Compiled code, as in a process that has been running for a while.
  for (const schema of Object.values(bombs)) outcome(schema, 0);
  for (const [name, schema] of Object.entries(bombs)) {
    const taken = leastCpuOf((seed) => outcome(schema, seed));
    t.ok(taken < most, `${name}: ${taken.toFixed(1)} of ${most.toFixed(1)} ms`);
    t.strictSame(outcome(schema, 7), outcome(schema, 7), 'the same each time');
  }
});

const piece = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom<Schema>({ $ref: '#' }, { $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, { minLength: 5000 }),
    fc.record({ pattern: fc.constantFrom('((a*)*)*', '(a|b?){0,900}', '[a-z]{900}', '(){900}') }),
    fc.record({ items: tie('schema'), minItems: fc.constantFrom(3, 300, 2000) }),
    fc.record({
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')),
      required: fc.constant(['a', 'b']),
    }),
    ...(['allOf', 'anyOf', 'oneOf'] as const).map((key) =>
      fc.array(tie('schema'), { minLength: 2, maxLength: 4 }).map((list): Schema => ({ [key]: list })),
    ),
  ),
})).schema;

t.test('any schema of such parts takes limited work', async (t) => {
  let longest = 0;
  fc.assert(
    fc.property(piece, piece, piece, fc.nat(), (schema, a, b, seed) => {
      const measure = (): number => cpuOf(() => outcome({ ...schema, $defs: { a, b } }, seed));
      const once = measure();
      // Once more before it is blamed: compiling and garbage collection count as well.
      longest = Math.max(longest, once < 2 * most ? once : measure());
    }),
    { seed: 20_260_101, numRuns: orLong(75, 300) },
  );
  t.ok(longest < 2 * most, `${longest.toFixed(1)} of ${(2 * most).toFixed(1)} ms`);
});

t.test(
  'at the socket: a 400 names the field, and large schemas of a sensible kind are answered',
  async (t) => {
    const gateway = await startGateway();
    t.teardown(() => gateway.stop());
    const post = async (path: string, body: object) => {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sluice/chat', ...body }),
      });
      return { status: response.status, json: (await response.json()) as Schema };
    };
    const messages = [{ role: 'user', content: '/sim rate=max\nGo' }];
    const refused = (message: string) => envelope(400, message, 'validation_error', 'invalid_request');
    const bomb = doubling(25, (next) => ({ allOf: [next, next] }));
    const format = (schema: unknown) => ({
      type: 'json_schema',
      json_schema: { name: 'answer', schema },
    });
    const tools = (parameters: unknown) => [{ type: 'function', function: { name: 'look', parameters } }];

    t.strictSame(await post('/chat/completions', { messages, response_format: format(bomb) }), {
      status: 400,
      json: refused('response_format.json_schema.schema is too complex for the simulator'),
    });
    t.strictSame(await post('/chat/completions', { messages, tools: tools(bomb), tool_choice: 'required' }), {
      status: 400,
      json: refused('tools[0].function.parameters is too complex for the simulator'),
    });
    const record = { type: 'object', properties: properties(60, text), required: namesOf(60) };
    t.strictSame(
      await post('/chat/completions', { messages, n: 128, response_format: format(record) }),
      { status: 400, json: refused('response_format.json_schema.schema is too complex for the simulator') },
      'all answers together',
    );
    const many = await post('/chat/completions', { messages, n: 4, response_format: format(record) });
    t.equal(many.status, 200);

    const wide = shared(12_000);
    const tooComplex = (path: string) => `${path} is too complex: it has more than 20000 values`;
    const rows: readonly (readonly [path: string, body: object, field: string])[] = [
      ['/chat/completions', { messages, tools: tools(wide) }, 'tools[0].function.parameters'],
      [
        '/chat/completions',
        { messages, response_format: format(wide) },
        'response_format.json_schema.schema',
      ],
      [
        '/responses',
        { input: 'Hi', tools: [{ type: 'function', name: 'look', parameters: wide }] },
        'tools[0].parameters',
      ],
      [
        '/responses',
        { input: 'Hi', text: { format: { type: 'json_schema', name: 'answer', schema: wide } } },
        'text.format.schema',
      ],
    ];
    for (const [path, body, field] of rows)
      t.strictSame(await post(path, body), { status: 400, json: refused(tooComplex(field)) }, field);
    for (const [body, field] of [
      [{ tools: [{ name: 'look', input_schema: wide }] }, 'tools[0].input_schema'],
      [{ output_config: { format: { type: 'json_schema', schema: wide } } }, 'output_config.format.schema'],
    ] as const) {
      const { status, json } = await post('/messages', { messages, max_tokens: 9, ...body });
      t.equal(status, 400);
      t.match(json, { error: { type: 'invalid_request_error', message: tooComplex(field) } });
    }
  },
);
