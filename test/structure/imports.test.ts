/** The imports of the product are those that ARCHITECTURE.md allows, the checker finds every other one, and folders stay small. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import t from 'tap';
import { readManifest } from '../supply/document.ts';
import { findProblems, readArchitecture, readSources } from './architecture.ts';

const root = new URL('../../', import.meta.url);
const architecture = readArchitecture(readFileSync(new URL('ARCHITECTURE.md', root), 'utf8'));

t.test('the tables of ARCHITECTURE.md are what the sources do', async (t) => {
  const sources = readSources(root, ['schemas', 'src', 'pipelines']);
  t.ok(sources.length > 300, 'all sources were found');
  t.strictSame(findProblems(architecture, sources), []);
});

t.test('a folder has no more files than a reader can survey', async (t) => {
  const sources = readSources(root, ['schemas', 'src', 'pipelines', 'bench', 'test']);
  const sizes = new Map<string, number>();
  for (const folder of sources.map(({ path }) => posix.dirname(path)))
    sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
  t.strictSame(
    [...sizes].filter(([, files]) => files > 35),
    [],
  );
});

t.test('every dependency has a row, and every row is one', async (t) => {
  const { dependencies, devDependencies } = readManifest();
  const rows = architecture.packages.map(({ name }) => name);
  t.strictSame(rows.filter((name) => !(name in devDependencies)).sort(), Object.keys(dependencies).sort());
});

t.test('threads do not load TypeBox, whose modules take longer than most tasks', async (t) => {
  const texts = new Map(
    readSources(root, ['schemas', 'src']).map(({ path, text }) => [
      path,
      text.replace(/^import type [^;]*;/gm, ''),
    ]),
  );
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const [, target = ''] of texts.get(path)?.matchAll(/(?:from |import\()'([^']+)'/g) ?? [])
      load(target.startsWith('.') ? posix.join(posix.dirname(path), target) : target);
  };
  for (const entry of ['src/offload/worker.ts', 'src/adapters/vectors/search-thread.ts']) load(entry);
  t.ok(loaded.has('src/tokens/vocabulary.ts'));
  t.notOk(loaded.has('typebox'));
});

const markdown = `
| Module | What lives there | May import |
|---|---|---|
| \`schemas\` | Types. | – |
| \`small\`: \`src/a.ts\`, \`src/b.ts\` | Helpers. | \`schemas\` |
| \`src/keys\` | Keys. | \`small\` |
| \`src/http\` | The edge. | \`schemas\`, \`keys/find.ts\` |

| Package | Imported by |
|---|---|
| \`rxjs\` | any module |
| \`ioredis\`, \`@scope/client\` | \`keys\` |
`;

const sound: Readonly<Record<string, string>> = {
  'schemas/one.ts': "import Type from 'rxjs';",
  'src/a.ts': "import type { One } from '../schemas/one.ts';",
  'src/b.ts': "import { a } from './a.ts';",
  'src/keys/find.ts': "import Redis from 'ioredis';\nconst client = await import('@scope/client/deep');",
  'src/keys/list.ts': "import { find } from './find.ts';\nimport { b } from '../b.ts';",
  'src/http/serve.ts':
    "import { readFile } from 'node:fs';\nimport { find } from '../keys/find.ts';\nexport * from '../../schemas/one.ts';",
};

const problems = (changes: Readonly<Record<string, string>> = {}, table = markdown): string[] =>
  findProblems(
    readArchitecture(table),
    Object.entries({ ...sound, ...changes }).map(([path, text]) => ({ path, text })),
  );

/** Beside what it has. */
const adding = (path: string, text: string): Record<string, string> => ({
  [path]: `${sound[path] ?? ''}\n${text}`,
});

t.test('what is allowed is no problem', async (t) => {
  t.strictSame(problems(), []);
});

t.test('imports that no row allows', async (t) => {
  const cases: readonly (readonly [string, string, string])[] = [
    [
      'src/a.ts',
      "import {\n  list,\n} from './keys/list.ts';",
      'src/a.ts:4 imports src/keys/list.ts: small may import schemas, not keys',
    ],
    [
      'src/http/serve.ts',
      "import type { List } from '../keys/list.ts';",
      'src/http/serve.ts:4 imports src/keys/list.ts: http may import schemas, keys/find.ts, not keys',
    ],
    [
      'schemas/one.ts',
      "const script = new URL('../src/a.ts', import.meta.url);",
      'schemas/one.ts:2 imports src/a.ts: schemas may import nothing, not small',
    ],
    [
      'src/keys/list.ts',
      "export { x } from '../../test/x.ts';",
      'src/keys/list.ts:3 imports test/x.ts: keys may import small, not files of no module',
    ],
    ['src/c.ts', '', 'src/c.ts is in no module of the table in ARCHITECTURE.md'],
  ];
  for (const [path, text, problem] of cases) t.strictSame(problems(adding(path, text)), [problem]);
});

t.test('packages and the environment outside their place', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ["import type { Redis } from 'ioredis';", 'imports ioredis: only keys may'],
    ["import '@scope/client';", 'imports @scope/client: only keys may'],
    ["createRequire(import.meta.url)('ioredis');", 'imports ioredis: only keys may'],
    ["require('undici/index.js');", 'imports undici, which the table of packages does not list'],
    ['const { PATH } = process.env;', 'uses process.env: only src/environment.ts may'],
    ["import { env } from 'node:process';", 'uses process.env: only src/environment.ts may'],
  ];
  for (const [text, problem] of cases)
    t.strictSame(problems(adding('src/a.ts', text)), [`src/a.ts:2 ${problem}`]);
});

t.test('rows that are not true', async (t) => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['Keys. | `small`', 'Keys. | `schemas`, `small`', 'lets keys import schemas, which it does not do'],
    [
      'Types. | –',
      'Types. | `keys`',
      'lets schemas import keys, which is not in a row above it: cycles could form',
    ],
    ['`keys/find.ts` |', '`keys/find.ts`, `lost` |', 'lets http import lost, which does not exist'],
    ['`src/b.ts` |', '`src/b.ts`, `src/d.ts` |', 'lists src/d.ts, which does not exist'],
    ['| `keys` |\n', '| `keys`, `http` |\n', 'lets http import ioredis, which it does not do'],
  ];
  for (const [from, to, problem] of cases) {
    t.ok(markdown.includes(from));
    t.equal(problems({}, markdown.replace(from, to))[0], `ARCHITECTURE.md ${problem}`);
  }
});
