/** Links of all guides lead to files and headings that exist, and every page is in the sidebar. */
import t from 'tap';
import { siteLink, slugOf } from '../../docs/.vitepress/links.ts';
import { sections } from '../../docs/.vitepress/pages.ts';
import { deadLinks } from './links.ts';
import { markdownFiles, pageFiles, readMarkdown } from './markdown.ts';

t.test('no link of the guides is dead', async (t) => {
  const pages = markdownFiles().map((file) => readMarkdown(file));
  t.ok(pages.length > 40);
  t.strictSame(deadLinks(pages), []);
});

t.test('every page is in the sidebar once', async (t) => {
  const listed = sections
    .flatMap(({ pages }) => pages)
    .filter(({ anchor }) => anchor === undefined)
    .map(({ file }) => file);
  t.strictSame(
    pageFiles().filter((file) => file !== 'docs/README.md' && !listed.includes(file)),
    [],
  );
  t.equal(new Set(listed).size, listed.length);
});

t.test('dead links are found', async (t) => {
  const one = readMarkdown(
    'docs/one.md',
    '# One\n\n[a](two.md) [b](two.md#there) [c](two.md#not-there) [d](#one) [e](#gone)\n[f](three.md) ' +
      '[g](/two.md) [h](../../x.md) `[i](no-link.md)`\n<img src="no.svg">\n\n```\n[j](no-link.md)\n```\n' +
      '[k](https://example.org/x) [l](../src/main.ts)\n',
  );
  const two = readMarkdown('docs/two.md', '# Two\n\n## There\n');
  t.strictSame(
    deadLinks([one, two], (file) => file === 'src/main.ts'),
    [
      'docs/one.md:3: two.md#not-there: no such heading',
      'docs/one.md:3: #gone: no such heading',
      'docs/one.md:4: three.md: no such file',
      'docs/one.md:4: /two.md: not relative, so it works on no code host',
      'docs/one.md:4: ../../x.md: outside of the repository',
      'docs/one.md:5: no.svg: no such file',
    ],
  );
});

t.test('headings are named as code hosts name them', async (t) => {
  t.equal(slugOf('Behind a balancer or proxy'), 'behind-a-balancer-or-proxy');
  t.equal(slugOf("OpenAI's SDK, `sluice.yaml` & more…"), 'openais-sdk-sluiceyaml--more');
  t.strictSame(
    [...readMarkdown('a.md', '# A `b`\n## A b\n### [C](x.md) *d*\n').anchors],
    ['a-b', 'a-b-1', 'c-d'],
  );
});

t.test('links lead to where the site has the file', async (t) => {
  t.strictSame(siteLink('docs/limits.md', 'api.md#retries'), { href: '/api.md#retries' });
  t.strictSame(siteLink('docs/streaming.md', '../ARCHITECTURE.md'), { href: '/internals/architecture.md' });
  t.strictSame(siteLink('README.md', 'docs/api.md'), { href: '/api.md' });
  t.strictSame(siteLink('docs/operations.md', '../docker-compose.yml'), {
    href: '/files/docker-compose.yml',
    copied: 'docker-compose.yml',
  });
  t.strictSame(siteLink('README.md', 'https://example.org/'), { href: 'https://example.org/' });
});
