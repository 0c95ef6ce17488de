/** Tests schema validation: messages for invalid values, and nulls that count as absent. */
import fc from 'fast-check';
import t from 'tap';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { validate } from '../../pipelines/core/validate.ts';
import { explainSchema } from '../../pipelines/core/validation/explain-schema.ts';
import { ApiError } from '../../src/errors.ts';

const Role = Type.Union([Type.Literal('user'), Type.Literal('assistant')]);
const Part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('image'), image: Type.Object({ url: Type.String({ maxLength: 20 }) }) }),
]);
const Request = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(Type.Object({ role: Role, content: Type.Union([Type.String(), Type.Array(Part)]) }), {
    minItems: 1,
  }),
  n: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  seed: Type.Optional(Type.Integer({ minimum: 0 })),
  top: Type.Optional(Type.Number({ maximum: 1 })),
  share: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
  side: Type.Optional(Type.Integer({ multipleOf: 16 })),
  format: Type.Optional(Type.Enum(['png', 'jpeg'])),
  mode: Type.Optional(Type.Literal('fast')),
  name: Type.Optional(Type.String({ pattern: '^[a-z]+$' })),
  id: Type.Optional(Type.String({ pattern: '^[a-z]+$', expected: 'lower-case letters' })),
  code: Type.Optional(Type.String({ minLength: 2, maxLength: 3 })),
  stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 2 })])),
  choice: Type.Optional(
    Type.Union([Type.Literal('none'), Type.Literal('auto'), Type.Object({ name: Type.String() })]),
  ),
  stream: Type.Optional(Type.Boolean()),
  strict: Type.Optional(Type.Object({ a: Type.Optional(Type.Number()) }, { additionalProperties: false })),
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
  nullable: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  both: Type.Optional(Type.Intersect([Type.Object({ x: Type.Number() }), Type.Object({ y: Type.Number() })])),
  free: Type.Optional(Type.Unknown()),
});

const good = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const message = (value: unknown) => ({ ...good, messages: [value] });

const faults: [unknown, string][] = [
  [undefined, 'The request body must be an object'],
  [null, 'The request body must be an object'],
  [[], 'The request body must be an object'],
  [{}, 'model is required'],
  [{ model: 'm' }, 'messages is required'],
  [{ ...good, model: null }, 'model must be a string'],
  [{ ...good, model: '' }, 'model must not be empty'],
  [{ ...good, messages: [] }, 'messages must have at least 1 item'],
  [{ ...good, messages: {} }, 'messages must be an array'],
  [message('hi'), 'messages[0] must be an object'],
  [message({ content: 'hi' }), 'messages[0].role is required'],
  [message({ role: 'user' }), 'messages[0].content is required'],
  [message({ role: 'robot' }), 'messages[0].role must be one of "user", "assistant"'],
  [message({ role: 'user', content: 1 }), 'messages[0].content must be a string or an array'],
  [message({ role: 'user', content: ['a'] }), 'messages[0].content[0] must be an object'],
  [message({ role: 'user', content: [{}] }), 'messages[0].content[0].type is required'],
  [
    message({ role: 'user', content: [{ type: 'sound' }] }),
    'messages[0].content[0].type must be one of "text", "image"',
  ],
  [message({ role: 'user', content: [{ type: 'text' }] }), 'messages[0].content[0].text is required'],
  [
    message({ role: 'user', content: [{ type: 'image', text: 'x', image: { url: 5 } }] }),
    'messages[0].content[0].image.url must be a string',
  ],
  [
    {
      ...good,
      messages: [...Array(40).fill(good.messages[0]), { role: 'user', content: [{ type: 'text', text: 1 }] }],
    },
    'messages[40].content[0].text must be a string',
  ],
  [{ ...good, n: 1.5 }, 'n must be an integer'],
  [{ ...good, n: '1' }, 'n must be an integer'],
  [{ ...good, n: 0 }, 'n must be between 1 and 10'],
  [{ ...good, n: 1e308 }, 'n must be between 1 and 10'],
  [{ ...good, seed: -1 }, 'seed must be at least 0'],
  [{ ...good, top: 2 }, 'top must be at most 1'],
  [{ ...good, share: 0 }, 'share must be greater than 0'],
  [{ ...good, share: 1 }, 'share must be less than 1'],
  [{ ...good, side: 17 }, 'side must be a multiple of 16'],
  [{ ...good, format: 'gif' }, 'format must be one of "png", "jpeg"'],
  [{ ...good, mode: 'slow' }, 'mode must be "fast"'],
  [{ ...good, name: 'A' }, 'name must match ^[a-z]+$'],
  [{ ...good, id: 'A' }, 'id must be lower-case letters'],
  [{ ...good, code: 'x' }, 'code must have at least 2 characters'],
  [{ ...good, code: 'xxxx' }, 'code must have at most 3 characters'],
  [{ ...good, stop: ['a', 'b', 'c'] }, 'stop must have at most 2 items'],
  [{ ...good, stop: ['a', 1] }, 'stop[1] must be a string'],
  [{ ...good, stop: 1 }, 'stop must be a string or an array'],
  [{ ...good, choice: 'some' }, 'choice must be one of "none", "auto" or an object'],
  [{ ...good, choice: {} }, 'choice.name is required'],
  [{ ...good, stream: 'true' }, 'stream must be true or false'],
  [{ ...good, strict: { b: 1 } }, 'strict.b is not a known field'],
  [{ ...good, strict: { 'b c': 1 } }, 'strict["b c"] is not a known field'],
  [{ ...good, labels: { a: 'x', b: 2 } }, 'labels.b must be a string'],
  [{ ...good, both: { x: 1 } }, 'both.y is required'],
];

const thrown = (act: () => unknown): ApiError => {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('No ApiError was thrown');
};

t.test('error messages', async (t) => {
  const check = validate(Request);
  for (const [value, sentence] of faults)
    t.throws(() => check(structuredClone(value)), new ApiError('invalid_request', sentence), sentence);
  t.equal(thrown(() => validate(Request, 'unprocessable')({})).status, 422);
  const value = { ...good, unknown: 1, code: '👍👍👍' };
  t.equal(check(value), value, 'a value that fits comes back as it is');
});

t.test('null is absent where a field is optional', async (t) => {
  const check = validate(
    Type.Object({
      a: Type.Optional(Type.Number()),
      kept: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
      free: Type.Optional(Type.Unknown()),
      schema: Type.Record(Type.String(), Type.Unknown()),
      inner: Type.Object({ b: Type.Optional(Type.String()) }),
      list: Type.Array(
        Type.Union([
          Type.Object({ type: Type.Literal('x'), only: Type.Optional(Type.Number()) }),
          Type.Object({ type: Type.Literal('y'), only: Type.Unknown() }),
        ]),
      ),
      mixed: Type.Union([Type.String(), Type.Array(Type.Object({ c: Type.Optional(Type.String()) }))]),
      both: Type.Intersect([Type.Object({ d: Type.Optional(Type.String()) }), Type.Object({})]),
      values: Type.Array(Type.Union([Type.Null(), Type.Number()])),
    }),
  );
  const checked = check({
    a: null,
    kept: null,
    free: null,
    schema: { default: null, deep: { x: null } },
    inner: { b: null },
    list: [
      { type: 'x', only: null },
      { type: 'y', only: null },
    ],
    mixed: [{ c: null }],
    both: { d: null },
    values: [null, 1],
  });
  t.same(checked, {
    kept: null,
    schema: { default: null, deep: { x: null } },
    inner: {},
    list: [{ type: 'x' }, { type: 'y', only: null }],
    mixed: [{}],
    both: {},
    values: [null, 1],
  });
  t.throws(() => validate(Request)({ ...good, messages: [null] }), {
    message: 'messages[0] must be an object',
  });
});

t.test(
  'one variant may take every other value of the field that tells them apart, one may lack it',
  async (t) => {
    const check = validate(
      Type.Object({
        tool: Type.Optional(
          Type.Union([
            Type.Literal('all'),
            Type.Object({ type: Type.Literal('a'), only: Type.Optional(Type.Number()) }),
            Type.Object({ type: Type.String({ pattern: '^(?!a$)', maxLength: 3, expected: 'short' }) }),
          ]),
        ),
        item: Type.Optional(
          Type.Union([
            Type.Object({ type: Type.Optional(Type.Literal('x')), only: Type.Optional(Type.Number()) }),
            Type.Object({ type: Type.Literal('y'), only: Type.Unknown() }),
          ]),
        ),
      }),
    );
    const rows: [object, string][] = [
      [{ tool: {} }, 'tool.type is required'],
      [{ tool: { type: 1 } }, 'tool.type must be short'],
      [{ tool: { type: 'long' } }, 'tool.type must be short'],
      [{ tool: { type: 'a', only: 'x' } }, 'tool.only must be a number'],
      [{ tool: 'none' }, 'tool must be "all" or an object'],
      [{ item: { only: 'x' } }, 'item.only must be a number'],
      [{ item: { type: 'x', only: 'x' } }, 'item.only must be a number'],
      [{ item: { type: 'z' } }, 'item.type must be one of "x", "y"'],
    ];
    for (const [value, sentence] of rows)
      t.throws(() => check(value), new ApiError('invalid_request', sentence), sentence);
    t.same(check({ tool: { type: 'a', only: null }, item: { type: null, only: null } }), {
      tool: { type: 'a' },
      item: {},
    });
    t.same(check({ tool: { type: 'b', only: null }, item: { type: 'y', only: null } }), {
      tool: { type: 'b', only: null },
      item: { type: 'y', only: null },
    });
  },
);

t.test('validation fails exactly when the value does not match', async (t) => {
  const schema: TSchema = Request;
  const compiled = Compile(schema);
  const leaf = fc.oneof(
    fc.constantFrom('user', 'assistant', 'text', 'image', 'png', 'fast', 'none', '', 'abc', 'm'),
    fc.integer({ min: -2, max: 40 }),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
  );
  const part = fc.record(
    { type: leaf, text: leaf, image: fc.record({ url: leaf }, { requiredKeys: [] }) },
    { requiredKeys: [] },
  );
  const content = fc.oneof(leaf, fc.array(fc.oneof(part, leaf), { maxLength: 20 }));
  const turn = fc.record({ role: leaf, content }, { requiredKeys: [] });
  const optional = Object.fromEntries(
    Object.keys(Request.properties).map((name) => [
      name,
      fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(fc.string(), leaf)),
    ]),
  );
  const request = fc.record(
    { ...optional, model: leaf, messages: fc.oneof(fc.array(turn, { maxLength: 30 }), leaf) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(request, (value) => {
      const fault = explainSchema(schema, value);
      return (fault === undefined) === compiled.Check(value);
    }),
    { numRuns: 2000, seed: 42 },
  );
  t.pass('2000 values');
});

t.test('schemas without a specific message are still checked', async (t) => {
  const schema: TSchema = Type.Unsafe<number>({ not: { type: 'string' } });
  t.equal(thrown(() => validate(schema)('x')).status, 400);
});
