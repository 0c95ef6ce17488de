/** Every snippet of the guides is run by some check, or the reason why none runs it is given. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { coveredElsewhere, notRun } from './guides/covered.ts';
import { guides } from './guides/guides.ts';
import { commandsOf, snippetsOf } from './guides/snippets.ts';
import { pageFiles, readMarkdown, root } from './markdown.ts';

t.test('every snippet has a check or a reason', async (t) => {
  const all = pageFiles().map((file) => snippetsOf(readMarkdown(file)));
  t.strictSame(
    all.flatMap(({ problems }) => problems),
    [],
  );
  const used = new Set(all.flatMap((one) => [...one.used]));
  t.strictSame(
    notRun.filter((row) => !used.has(row)).map(({ file, begins }) => `${file}: ${begins}`),
    [],
    'no row is out of date',
  );
  for (const file of [...Object.keys(guides), ...Object.keys(coveredElsewhere)])
    t.ok(existsSync(join(root, file)), file);
});

t.test('a snippet that nothing runs is found', async (t) => {
  const page =
    '# A\n\n```sh\nls\n```\n\n<!-- not run: needs a GPU -->\n```python\nx\n```\n\n```json\n{}\n```\n';
  const { problems, left } = snippetsOf(readMarkdown('docs/new.md', page));
  t.strictSame(problems, ['docs/new.md:3: nothing runs this snippet (test/docs/guides)']);
  t.strictSame(left, ['docs/new.md:8: needs a GPU']);
});

t.test('commands stand behind prompts, or are the whole block', async (t) => {
  t.equal(commandsOf('a\nb\n'), 'a\nb\n');
  t.equal(commandsOf('$ a \\\n  b\noutput\n\n$ c\n{}\n'), 'a \\\n  b\nc\n');
});
