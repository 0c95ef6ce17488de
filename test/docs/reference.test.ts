/** The committed pages of the reference are what their generators write. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { root } from './markdown.ts';
import { fieldsOf, typeOf } from './reference/fields.ts';
import { plain, table } from './reference/page.ts';
import { referencePages } from './reference/pages.ts';
import { configurationPage, readFacts } from './reference/settings.ts';

t.test('the reference is the output of `npm run docs:reference`', async (t) => {
  const pages = await referencePages();
  for (const [file, text] of pages) t.equal(readFileSync(join(root, file), 'utf8'), text, file);
  const written = readdirSync(join(root, 'docs/reference'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/reference/${name}`);
  t.strictSame(written.sort(), [...pages.keys()].sort());
});

t.test('facts of variables are read from the calls', async (t) => {
  const facts = readFacts([
    "integer(env, 'A_MB', 1024, 1, 1_000_000) * 1024; integer(env, 'BB', 10 * 1024 ** 3, 0, Number.MAX_SAFE_INTEGER)",
    "oneOf(\n env,\n 'CC', ['on', 'off'], 'on'); flag(env, 'DD'); url(env, 'EE', ['http:', 'https:'])",
    "const levels = ['x', 'y'] as const; oneOf(env, 'FF', levels, 'x'); text(env, 'GG') ?? 'g'; integer(env, 'HH', usual, 4 * one, 9)",
  ]);
  t.strictSame(Object.fromEntries(facts), {
    A_MB: { type: 'integer, 1 to 1000000', fallback: '1024' },
    BB: { type: 'integer, 0 or more', fallback: '10737418240' },
    CC: { type: '`on`, `off`', fallback: 'on' },
    DD: { type: '`1` or `0`', fallback: '0' },
    EE: { type: 'URL: `http://`, `https://`', fallback: undefined },
    FF: { type: '`x`, `y`', fallback: 'x' },
    GG: { type: 'text', fallback: undefined },
    HH: { type: 'integer, 1 to 9', fallback: undefined },
  });
});

t.test('a variable without a text is an error, and so is a text without a variable', async (t) => {
  const facts = new Map([['A', { type: 'text', fallback: undefined }]]);
  t.throws(() => configurationPage({}, facts), { message: 'docs/reference/settings.yaml lacks A' });
  t.throws(() => configurationPage({ Group: { A: { text: 'a' }, B: { text: 'b' } } }, facts), {
    message: 'docs/reference/settings.yaml: nothing reads B',
  });
  t.match(
    configurationPage({ Group: { A: { text: 'What it does.', default: 'x' } } }, facts),
    '| `A` | text | `x` | What it does. |',
  );
});

t.test('fields of a schema, with those of its objects, lists and references', async (t) => {
  const inner = { type: 'object', properties: { c: { type: 'integer', minimum: 1 } }, required: ['c'] };
  const lookup = () => inner;
  const schema = {
    type: 'object',
    properties: {
      a: { $ref: '#/components/schemas/Inner', description: 'A' },
      b: { type: 'array', items: { $ref: '#/components/schemas/Inner' } },
      d: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
  };
  t.strictSame(
    fieldsOf(schema, { lookup, deepest: 3 }).map((field) => [
      field.path,
      typeOf(field.schema, lookup),
      field.required,
    ]),
    [
      ['a', 'object', false],
      ['a.c', 'integer, 1 or more', true],
      ['b', 'list of object', false],
      ['b[].c', 'integer, 1 or more', true],
      ['d', 'string or null', false],
    ],
  );
});

t.test('texts cannot end a cell or begin HTML', async (t) => {
  t.equal(table(['A'], [['a|b\nc']]), '| A |\n| --- |\n| a\\|b c |');
  t.equal(plain('a <id> `<id>` {{ x }}'), 'a &lt;id> `<id>` &#123;&#123; x }}');
});
