/**
 * Checks the documentation: words, snippets, and the built site, also in Chromium: `npm run test:docs`.
 * `-- --allow-missing` ends well where there is no browser; `-- --screenshots FOLDER` takes pictures of the site.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf } from '../../docs/.vitepress/pages.ts';
import { readCommandLine } from '../command-line.ts';
import { chromiumPath, missingChromium } from '../console/chromium.ts';
import { patiently } from '../eventually.ts';
import { runGuides } from './guides/run.ts';
import { deadLinks } from './links.ts';
import { type Markdown, markdownFiles, pageFiles, readMarkdown, root } from './markdown.ts';
import { visitSite } from './site/browser.ts';
import { checkSite, fileExists, readSite } from './site/built.ts';
import { serveFolder } from './site/serve.ts';
import { avoided, misspelt, openSpelling } from './spelling.ts';

const { values } = readCommandLine({
  command: 'npm run test:docs',
  summary: 'Checks the documentation: words, snippets, and the built site, also in Chromium.',
  options: {
    only: { value: 'STAGE', help: 'words, snippets or site' },
    screenshots: { value: 'FOLDER', help: 'take pictures of the site' },
    'allow-missing': { help: 'end well where there is no browser' },
  },
});

interface Outcome {
  /** What was done, for the last line. */
  readonly summary: string;
  readonly problems: readonly string[];
}

const pages: readonly Markdown[] = markdownFiles().map((file) => readMarkdown(file));

const checkWords = (): Outcome => {
  const spelling = openSpelling();
  const problems = pages.flatMap((page) => [...misspelt(page, spelling), ...avoided(page)]);
  return { summary: `${pages.length} files read`, problems: [...problems, ...deadLinks(pages)] };
};

const checkBuilt = async (): Promise<Outcome> => {
  // A process of its own: its types are those of a browser, and it changes what errors look like.
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'docs'], {
    cwd: root,
    encoding: 'utf8',
    timeout: patiently(300_000),
  });
  if (status !== 0) return { summary: 'not built', problems: [`${stdout}${stderr}`.slice(-4000)] };
  const folder = join(root, 'docs/.vitepress/dist');
  const site = readSite(folder);
  const { links, dead, foreign } = checkSite(site, fileExists(folder));
  const missing = pageFiles()
    .map((file) => (addressOf(file) ?? '').replace(/\.md$/, '.html'))
    .filter((name) => !site.has(name));
  const problems = [
    ...dead.map((link) => `dead link: ${link}`),
    ...foreign.map((link) => `loaded from elsewhere: ${link}`),
    ...missing.map((name) => `not built: ${name}`),
  ];
  const built = `${site.size} pages built, ${links} links`;
  if (chromiumPath === undefined) {
    if (!values['allow-missing']) problems.push(`no diagram was drawn: ${missingChromium}`);
    return { summary: `${built}, diagrams not drawn (${missingChromium})`, problems };
  }
  const diagrams = new Map(
    pageFiles()
      .map((file): [string, number] => [
        (addressOf(file) ?? '').replace(/\.md$/, '.html'),
        readMarkdown(file).blocks.filter(({ language }) => language === 'mermaid').length,
      ])
      .filter(([, count]) => count > 0),
  );
  if (values.screenshots !== undefined) mkdirSync(values.screenshots, { recursive: true });
  const { origin, close } = await serveFolder(folder);
  try {
    const found = await visitSite(chromiumPath, { origin, diagrams, screenshots: values.screenshots });
    return { summary: `${built}, ${found.drawn} diagrams drawn`, problems: [...problems, ...found.problems] };
  } finally {
    await close();
  }
};

const stages: Readonly<Record<string, () => Outcome | Promise<Outcome>>> = {
  words: checkWords,
  snippets: runGuides,
  site: checkBuilt,
};

const wanted = Object.entries(stages).filter(([name]) => values.only === undefined || values.only === name);
if (wanted.length === 0) {
  console.error(`npm run test:docs: --only takes one of ${Object.keys(stages).join(', ')}`);
  process.exit(2);
}
const summaries: string[] = [];
let failed = false;
for (const [name, stage] of wanted) {
  const begun = performance.now();
  const { summary, problems } = await stage();
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${problems.length === 0 ? 'ok' : 'not ok'} - ${name}: ${summary} (${seconds} s)`);
  for (const problem of problems) console.log(problem.replaceAll(/^/gm, '    '));
  failed ||= problems.length > 0;
  summaries.push(summary);
}
console.log(`docs checked: ${summaries.join('; ')}`);
process.exit(failed ? 1 : 0);
