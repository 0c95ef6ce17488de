/** The playground's embeddings, rerank, decisions and vector stores. */
import assert from 'node:assert/strict';
import { checkAccessibility } from '../axe.ts';
import { openPlayground, send, stateOf } from '../playground.ts';
import type { Scenarios } from '../scene.ts';

const hostile = `<img src=x onerror="document.title='run'">`;

/** Browsers write a quote in the name of an upload as %22. */
const hostileFile = "<img src=x onerror=document.title='run'>.md";

const kinds = [
  ...['chat', 'images', 'speech', 'transcription', 'video', 'music', 'embeddings', 'rerank', 'decisions'],
  'stores',
];

const scenarios: Scenarios = {
  'every kind of model fits a small screen, and can be chosen by keyboard': async (scene) => {
    const { page } = scene;
    await page.setViewportSize({ width: 390, height: 844 });
    await openPlayground(scene, 'chat');
    await page.getByRole('tab', { name: 'Chat', exact: true }).focus();
    for (const kind of kinds) {
      await page.waitForURL((url) => url.hash === `#/playground/${kind}`);
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: 'This request as a program' }).waitFor();
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.equal(overflow, 0, `${kind} is wider than the screen`);
      await checkAccessibility(page);
      await page.keyboard.press('ArrowRight');
    }
    await page.waitForURL((url) => url.hash === '#/playground/chat');
  },

  'embeddings are compared in a matrix': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'embeddings');
    await page.getByLabel('Texts').fill(`The tide rises twice a day\nThe tide falls twice a day\n${hostile}`);
    await send(page, 'Compare');
    const rows = page.getByRole('table').locator('tbody tr');
    assert.equal(await rows.count(), 3);
    const matrix = await Promise.all(
      [0, 1, 2].map(async (row) => (await rows.nth(row).locator('td').allInnerTexts()).map(Number)),
    );
    assert.deepEqual(
      matrix.map((row, index) => row[index]),
      [1, 1, 1],
    );
    assert.equal(matrix[0]?.[1], matrix[1]?.[0]);
    assert.ok((matrix[0]?.[1] ?? 0) > (matrix[0]?.[2] ?? 1) + 0.2, 'alike texts are closer');
    await page.getByRole('rowheader', { name: `3. ${hostile}` }).waitFor();
    await checkAccessibility(page);
    await page.getByLabel('Texts').fill('a\n'.repeat(21));
    await page.getByText('At most 20 texts.').waitFor();
  },

  'documents are ranked': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'rerank');
    await send(page, 'Rank');
    const first = page.getByRole('table', { name: 'Documents by relevance' }).locator('tbody tr').first();
    assert.match(await first.innerText(), /0\.8\d+\s+2\s+The tide rises twice a day\./);
    await checkAccessibility(page);
  },

  'decisions are shown as bars': async (scene) => {
    const { page, screenshot, expectError } = scene;
    await openPlayground(scene, 'decisions');
    await send(page, 'Decide');
    await page.getByRole('heading', { name: 'refund: yes' }).waitFor();
    await page.getByRole('heading', { name: /^team: returns/ }).waitFor();
    const bar = page.locator('.bar', { hasText: 'returns' });
    const [track, fill] = await Promise.all(
      ['.track', '.track > div'].map(async (part) => (await bar.locator(part).boundingBox())?.width ?? 0),
    );
    assert.ok((fill ?? 0) > 0.95 * (track ?? 0), 'a likely answer fills its bar');
    await checkAccessibility(page);
    await screenshot('playground-decisions');
    await page.getByLabel('Questions as JSON').fill('{');
    await page.getByRole('alert').waitFor();
    expectError(/the server responded with a status of 422/);
    await page.getByLabel('Questions as JSON').fill('{"polite": {"type": "noul"}}');
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByRole('alert').getByText('422: questions.polite.instructions is required').waitFor();
  },

  'a store is filled, searched and asked': async (scene) => {
    const { page, screenshot, expectError } = scene;
    await openPlayground(scene, 'stores');
    await page.getByText('There is no store yet.').waitFor();
    await page.getByLabel('Name of a new store').fill('guides');
    await page.getByRole('button', { name: 'Create the store' }).click();
    await page.getByText('It has no files yet.').waitFor();
    await page.getByLabel('Files to upload').setInputFiles([
      {
        name: 'tides.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('# Tides\n\nSpring tides come at full moon and at new moon.\n'),
      },
      { name: 'bread.txt', mimeType: 'text/plain', buffer: Buffer.from('Yeast makes bread rise.') },
    ]);
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    const files = page.getByRole('table', { name: 'Files of the store' });
    await files.getByText('tides.md').waitFor();
    await files.getByText('bread.txt').waitFor();
    await page.getByText(/^2 passages of 2 files/).waitFor();

    await page.getByLabel('Search for').fill('When are spring tides?');
    await send(page, 'Search');
    const found = page.getByRole('list', { name: 'Passages found' });
    await found.getByText('tides.md').first().click();
    await found.getByText('Spring tides come at full moon').waitFor();

    await page.getByLabel('Question', { exact: true }).fill('When are spring tides?');
    await send(page, 'Ask');
    await page.getByRole('list', { name: 'Passages used' }).getByText('tides.md').first().waitFor();
    await page
      .locator('p.text-result')
      .getByText(/^You asked about spring and tides/)
      .waitFor();
    await page.getByRole('region', { name: 'as curl' }).getByText('/chat/completions/RAG').waitFor();
    await checkAccessibility(page);
    await page.evaluate('scrollTo(0, 0)');
    await screenshot('playground-stores');

    expectError(/the server responded with a status of 400/);
    await page.getByLabel('Files to upload').setInputFiles({
      name: 'none.bin',
      mimeType: '',
      buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    });
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/^400: file/)
      .waitFor();
    assert.equal(await stateOf(page, 'Upload').innerText(), 'Failed.');
  },

  'markup in names and texts of a store stays text': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'stores');
    await page.getByLabel('Name of a new store').fill(hostile);
    await page.getByRole('button', { name: 'Create the store' }).click();
    await page.getByText('It has no files yet.').waitFor();
    await page.getByLabel('Files to upload').setInputFiles({
      name: hostileFile,
      mimeType: 'text/plain',
      buffer: Buffer.from(`Spring tides: ${hostile}<script>document.title='run'</script>`),
    });
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('table', { name: 'Files of the store' }).getByText(hostileFile).waitFor();
    await page.getByLabel('Question', { exact: true }).fill('When are spring tides?');
    await send(page, 'Ask');
    const used = page.getByRole('list', { name: 'Passages used' });
    await used.getByText(hostileFile).click();
    await used.getByText(hostile).waitFor();
    assert.equal(await page.title(), 'Playground · Sluice');
    assert.equal(await page.locator('main img, main script').count(), 0);
  },
};

export default scenarios;
