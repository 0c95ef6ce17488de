/** The playground's chat: streams token by token in three dialects, tools, reasoning, schemas, attachments, stop, errors. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { checkAccessibility } from '../axe.ts';
import { openPlayground, send, stateOf } from '../playground.ts';
import type { Scenario, Scenarios } from '../scene.ts';

const say = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message').fill(text);
  await send(page, 'Send');
};

const answers = (page: Page) => page.locator('.turn.assistant .said');
const events = (page: Page) => page.getByRole('region', { name: 'Raw events' }).locator('li');

const hostile = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A question, a call of a tool, its result, and the response to it. */
const withTools =
  (dialect: string): Scenario =>
  async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'chat');
    await page.getByLabel('Dialect').selectOption(dialect);
    await page.getByLabel('System prompt').fill('Be short.');
    await say(page, 'How do tides work?');
    assert.match(await answers(page).innerText(), /^You asked about tides and work\./);
    await page.getByText('Completion tokens').waitFor();
    assert.ok((await events(page).count()) > 20, 'raw events are shown');

    await page.getByLabel('Tools', { exact: true }).check();
    await say(page, 'What is the weather in Paris?');
    await page.locator('.turn.assistant').getByText('{"city":"Paris"}').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled());
    await checkAccessibility(page);
    await page.getByLabel('Result of get_weather').fill('{"degrees": 21}');
    await page.getByRole('button', { name: 'Send the results' }).click();
    await stateOf(page, 'Send').getByText('Done.').waitFor();
    assert.match(await answers(page).last().innerText(), /degrees/);
    await page.getByText('{"degrees": 21}').first().waitFor();

    await page.getByLabel('Tools as JSON').fill('{"name": 1}');
    await page.getByRole('alert').getByText('Tools are a list').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled());
  };

const scenarios: Scenarios = {
  'a chat streams token by token': async (scene) => {
    const { page, screenshot } = scene;
    await openPlayground(scene, 'chat');
    await page.getByLabel('Message').fill('/sim tokens=40 rate=20/s\nHow do tides work?');
    await page.keyboard.press('Control+Enter');
    const seen: string[] = [];
    const state = stateOf(page, 'Send');
    while ((await state.innerText()) === 'Running …') {
      const text = (await answers(page).count()) === 0 ? '' : await answers(page).innerText();
      if (text !== seen.at(-1)) seen.push(text);
    }
    const final = await answers(page).innerText();
    assert.ok(seen.length > 5, `the text grew in ${seen.length} steps`);
    for (const text of seen) assert.ok(final.startsWith(text.trim()), `${text} is a beginning of ${final}`);
    assert.equal(await events(page).count(), 43, 'a role, 40 tokens, the usage and the end');
    assert.equal(
      (await events(page).locator('mark').allTextContents()).join(''),
      final,
      'each token is shown',
    );
    const times = (await events(page).locator('.time').allInnerTexts()).map(Number.parseFloat);
    assert.ok((times.at(-1) ?? 0) - (times[0] ?? 0) > 1_500, 'events have the time of their arrival');
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
    const announced = page.locator('.visually-hidden[aria-live=polite]');
    await announced.getByText(/\w+ \w+/).waitFor({ state: 'attached' });
    const figures = await page.locator('.figures').innerText();
    assert.match(figures, /First token\s+\d+(\.\d)? ms/);
    assert.match(figures, /Tokens\/s\s+\d+\.\d/);
    assert.match(figures, /Completion tokens\s+40/);
    assert.match(figures, /Cost\s+\$0\.0000/);
    assert.match(figures, /Request\s+req_/);
    await checkAccessibility(page);
    await page.evaluate('scrollTo(0, 0)');
    await screenshot('playground-chat');
    await page.getByLabel('Raw events', { exact: true }).and(page.getByRole('checkbox')).uncheck();
    assert.equal(await events(page).locator('code').count(), 0);
  },

  'tools in chat completions': withTools('chat'),
  'tools in messages': withTools('messages'),
  'tools in responses': withTools('responses'),

  'reasoning is shown apart': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'chat');
    await page.getByLabel('Model', { exact: true }).selectOption('sluice/reasoner');
    await page.getByLabel('Reasoning effort').selectOption('low');
    for (const dialect of ['chat', 'messages', 'responses']) {
      await page.getByLabel('Dialect').selectOption(dialect);
      await say(page, 'How do tides work?');
      const turn = page.locator('.turn.assistant').last();
      await turn.getByText('Reasoning', { exact: true }).waitFor();
      assert.match(await turn.locator('> .said').innerText(), /^You asked about tides/, dialect);
      assert.match(await page.locator('.figures').innerText(), /\(16 reasoning\)/, dialect);
    }
  },

  'a response by a JSON schema': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'chat');
    await page.getByLabel('JSON by a schema').check();
    for (const dialect of ['chat', 'messages', 'responses']) {
      await page.getByLabel('Dialect').selectOption(dialect);
      await say(page, 'Plan a trip to Rome for 5 days');
      const answer: unknown = JSON.parse(await answers(page).last().innerText());
      assert.deepEqual(answer, { city: 'Rome', days: 5 }, dialect);
    }
  },

  'images and files are attached': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'chat');
    await page.getByLabel('Model', { exact: true }).selectOption('sluice/vision');
    for (const dialect of ['chat', 'messages', 'responses']) {
      await page.getByLabel('Dialect').selectOption(dialect);
      await page.getByLabel('Attachments').setInputFiles([
        { name: `${hostile}.png`, mimeType: 'image/png', buffer: pixel },
        { name: 'tides.md', mimeType: 'text/markdown', buffer: Buffer.from('The sea rises twice a day.') },
      ]);
      await say(page, 'What is it?');
      assert.match(await answers(page).last().innerText(), /You sent an image/, dialect);
      await page.locator('.turn.user').last().getByText(`${hostile}.png`).waitFor();
    }
    assert.equal(await page.title(), 'Playground · Sluice');
  },

  'stop cancels the request': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'chat');
    await page.getByLabel('Message').fill('/sim tokens=5000 rate=20/s\nHow do tides work?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await answers(page).waitFor();
    const cancelled = page.waitForEvent('requestfailed');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    assert.match((await cancelled).url(), /\/v1\/chat\/completions$/);
    await stateOf(page, 'Send').getByText('Stopped.').waitFor();
    const text = await answers(page).innerText();
    await page.waitForTimeout(500);
    assert.equal(await answers(page).innerText(), text);
    await say(page, 'And neap tides?');
    assert.equal(await answers(page).count(), 2, 'the conversation goes on');
  },

  'failures name the request': async (scene) => {
    const { page, expectError } = scene;
    expectError(/the server responded with a status of 503/);
    await openPlayground(scene, 'chat');
    await page.getByLabel('Message').fill('/sim fail=503\nHello');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('503: Simulated failure 503').waitFor();
    assert.match(await alert.innerText(), /Request req_/);
    assert.equal(
      await page.getByLabel('Message').inputValue(),
      '/sim fail=503\nHello',
      'it can be sent again',
    );
    await checkAccessibility(page);
    for (const dialect of ['chat', 'messages', 'responses']) {
      await page.getByLabel('Dialect').selectOption(dialect);
      await page.getByLabel('Message').fill('/sim fail=503@5\nHow do tides work?');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await alert.getByText('Simulated failure 503', { exact: true }).waitFor();
      assert.match(await alert.innerText(), /Request req_/, dialect);
      assert.match(await answers(page).last().innerText(), /^You asked/, dialect);
    }
  },

  'a key that is no longer accepted': async ({ page, root, expectError }) => {
    expectError(/the server responded with a status of 401/);
    await page.addInitScript(`sessionStorage.setItem('sluice.key', 'sk-revoked')`);
    await page.goto(`${root}/#/playground`);
    await page.getByLabel('Message').fill('Hello');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/^401: /)
      .waitFor();
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.getByText('Enter your key above').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled());
  },

  'markup in prompts and responses stays text': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'chat');
    await page.getByLabel('System prompt').fill(hostile);
    await say(page, `/sim echo\n${hostile}`);
    assert.equal(await answers(page).innerText(), hostile);
    await page.getByRole('region', { name: 'as curl' }).waitFor();
    assert.equal(await page.title(), 'Playground · Sluice');
    assert.equal(await page.locator('main img, main script').count(), 0);
  },

  'raw events of a long stream are bounded': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'chat');
    await say(page, '/sim tokens=4000 rate=max\nHello');
    await page.getByText('2,003 earlier events are no longer kept.').waitFor();
    assert.equal(await events(page).count(), 2_000);
    assert.match(await page.locator('.figures').innerText(), /Completion tokens\s+4,000/);
  },

  'the request can be copied as a program': async (scene) => {
    const { page, root, key } = scene;
    await openPlayground(scene, 'chat');
    await page.getByLabel('Message').fill("It's a question");
    const copied = async (name: string): Promise<string> => {
      await page.getByRole('tab', { name, exact: true }).click();
      await page.getByRole('button', { name: `Copy as ${name}` }).click();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    assert.ok((await copied('curl')).startsWith(`curl -sSN --fail-with-body '${root}/v1/chat/completions'`));
    assert.match(await copied('Python'), /client\.chat\.completions\.create\(\n {4}model="sluice\/chat",/);
    const program = await copied('TypeScript');
    assert.match(program, /content: "It's a question"/);
    assert.ok(!(await page.content()).includes(key), 'the key is not shown');
  },

  'the playground of the console calls the public port': async ({ page, signIn, key }) => {
    await signIn();
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('in use').waitFor();
    await page.reload();
    await page.getByText('in use').waitFor();
    await say(page, 'How do tides work?');
    assert.match(await answers(page).innerText(), /^You asked about tides/);
    assert.match(await page.locator('.figures').innerText(), /Request\s+req_/);
    await checkAccessibility(page);
  },
};

export default scenarios;
