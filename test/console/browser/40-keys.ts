/** The console's keys: created, used, suspended, expired, rotated, revoked; limits; edits that collide. */
import assert from 'node:assert/strict';
import { eventually } from '../../eventually.ts';
import { checkAccessibility } from '../axe.ts';
import { adminCall, chat, chatBecomes, newKey, publicCall } from '../calls.ts';
import type { Scenarios } from '../scene.ts';

/** As an input of type `datetime-local` takes it. */
const localTime = (time: number): string =>
  new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace(/:00$/, '');

const scenarios: Scenarios = {
  'a key is created, and its secret is shown once': async (scene) => {
    const { page, signIn, screenshot } = scene;
    await signIn();
    await page.getByRole('link', { name: 'Keys & limits' }).click();
    await page.getByRole('tab', { name: 'Subscriptions and limits' }).click();
    await page.getByRole('button', { name: 'New subscription' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Acme Robotics');
    await page.getByRole('button', { name: 'Create the subscription' }).click();
    await page.getByRole('heading', { name: 'Acme Robotics', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Its keys' }).click();
    await page.getByText('There is no key yet.').waitFor();
    await eventually(
      async () => (await page.evaluate('document.activeElement.id')) === 'main',
      'the focus follows the page',
    );

    await page.getByRole('button', { name: 'New key' }).click();
    const form = page.getByRole('dialog', { name: 'New key' });
    await form.getByLabel('Name').fill('laptop');
    await form.getByLabel('Models').fill('sluice/chat\nsluice/embed*');
    await form.getByLabel('Tags').fill('nightly');
    await form.getByLabel('Metadata').fill('{"owner": "data team"}');
    await form.getByLabel('Requests per minute').fill('600');
    await checkAccessibility(page);
    await form.getByRole('button', { name: 'Create the key' }).click();

    const shown = page.getByRole('dialog', { name: 'Secret of laptop' });
    const secret = (await shown.getByRole('region', { name: 'the secret' }).innerText()).trim();
    assert.match(secret, /^sk-sluice-/);
    await shown.getByRole('button', { name: 'Copy the secret' }).click();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);
    await checkAccessibility(page);
    await shown.getByRole('button', { name: 'I have copied it' }).click();
    await shown.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'laptop' }).waitFor();
    assert.ok(!(await page.content()).includes(secret), 'the secret is not shown again');
    await eventually(
      async () => (await page.evaluate('document.activeElement.textContent')) === 'New key',
      'the focus returns to the button',
    );

    assert.equal((await chatBecomes(scene, secret, 200)).status, 200);
    const other = await publicCall(scene, secret, '/rerank', {
      ...{ model: 'sluice/rerank', query: 'a', documents: ['b'] },
    });
    assert.equal(other.status, 404, 'a model that it may not be used for');
    await page.getByLabel('Search').fill('NIGHTLY lap');
    await page.getByText('1 of 1 keys').waitFor();
    await page.getByLabel('Search').fill('nothing like it');
    await page.getByText('No key matches.').waitFor();
    await page.getByLabel('Search').fill('');
    await checkAccessibility(page);
    await page.getByLabel('Subscription').selectOption({ label: 'all subscriptions' });
    await page.getByRole('link', { name: 'bootstrap' }).waitFor();
    await screenshot('console-keys');
  },

  'a key is suspended, expires and is revoked': async (scene) => {
    const { page, admin, signIn, screenshot, expectError } = scene;
    const { id, secret } = await newKey(scene, 'build server', { tags: ['ci'], networks: ['127.0.0.0/8'] });
    await chatBecomes(scene, secret, 200);
    await signIn();
    await page.goto(`${admin}/#/keys/${id}`);
    await page.getByRole('heading', { name: 'build server', level: 1 }).waitFor();
    await checkAccessibility(page);
    await screenshot('console-key');
    const actions = page.getByRole('main');

    await actions.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('suspended', { exact: true }).waitFor();
    const refused = await chatBecomes(scene, secret, 401);
    assert.equal(refused.body.error.message, 'Invalid API key');
    await actions.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await chatBecomes(scene, secret, 200);

    await actions.getByRole('button', { name: 'Edit settings' }).click();
    const form = page.getByRole('dialog');
    expectError(/the server responded with a status of 400/);
    await form.getByLabel('Expires').fill(localTime(Date.now() - 60_000));
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').getByText('expires must be a time in the future').waitFor();
    assert.equal(await form.getByLabel('Expires').getAttribute('aria-invalid'), 'true');
    assert.equal(await form.getByRole('alert').count(), 1, 'the error is at its field, and nowhere else');
    await checkAccessibility(page);
    await form.getByLabel('Networks').fill('somewhere');
    await form.getByLabel('Expires').fill('');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').getByText('networks must be 1 to 100 networks').waitFor();
    await form.getByLabel('Networks').fill('');
    await form.getByLabel('Metadata').fill('{not json');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').getByText('metadata must be JSON').waitFor();
    await form.getByLabel('Metadata').fill('');
    await form.getByLabel('Expires').fill(localTime(Date.now() + 5_000));
    await form.getByLabel('Requests at once').fill('7');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    const expired = await chatBecomes(scene, secret, 401);
    assert.match(expired.body.error.message, /^The API key expired at /);
    const saved = await adminCall(scene, 'GET', `/keys/${id}`);
    assert.deepEqual([saved.limits, saved.networks, saved.tags], [{ concurrency: 7 }, undefined, ['ci']]);

    await actions.getByRole('button', { name: 'Edit settings' }).click();
    await form.getByLabel('Expires').fill('');
    await form.getByLabel('Requests at once').fill('');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await chatBecomes(scene, secret, 200);
    assert.equal((await adminCall(scene, 'GET', `/keys/${id}`)).limits, undefined);

    await actions.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Keep it' }).click();
    assert.equal((await chat(scene, secret)).status, 200);
    await actions.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('closed', { exact: true }).waitFor();
    assert.equal(await actions.getByRole('button', { name: 'Resume' }).count(), 0);
    assert.equal((await chatBecomes(scene, secret, 401)).body.error.message, 'Invalid API key');
  },

  'a rotated key has two secrets for a while': async (scene) => {
    const { page, admin, signIn } = scene;
    const { id, secret } = await newKey(scene, 'mobile app');
    await signIn();
    await page.goto(`${admin}/#/keys/${id}`);
    const rotate = async (hours: string): Promise<string> => {
      await page.getByRole('button', { name: 'Rotate' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Hours that the former secret still works').fill(hours);
      await form.getByRole('button', { name: 'Make a new secret' }).click();
      const text = await page.getByRole('region', { name: 'the secret' }).innerText();
      await page.getByRole('button', { name: 'I have copied it' }).click();
      return text.trim();
    };
    const second = await rotate('1');
    await page.getByText(/works until/).waitFor();
    assert.notEqual(second, secret);
    await chatBecomes(scene, second, 200);
    assert.equal((await chat(scene, secret)).status, 200, 'both work');
    const third = await rotate('0');
    await chatBecomes(scene, second, 401);
    await chatBecomes(scene, third, 200);
  },

  'an edit does not overwrite what somebody else saved': async (scene) => {
    const { page, admin, signIn, expectError } = scene;
    const { id, subscription } = await newKey(scene, 'contested');
    await signIn();
    await page.goto(`${admin}/#/keys/${id}`);
    await page.getByRole('button', { name: 'Edit settings' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('mine');
    await adminCall(scene, 'PATCH', `/keys/${id}`, { name: 'theirs' });
    expectError(/the server responded with a status of 412/);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').getByText('Somebody else changed it').waitFor();
    await checkAccessibility(page);
    assert.equal((await adminCall(scene, 'GET', `/keys/${id}`)).name, 'theirs');
    await form.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'theirs', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Edit settings' }).click();
    await form.getByLabel('Name').fill('mine');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'mine', level: 1 }).waitFor();

    // The same for an action of one click.
    await page.goto(`${admin}/#/keys/subscriptions/${subscription}`);
    await page.getByRole('heading', { name: 'contested team', level: 1 }).waitFor();
    await adminCall(scene, 'POST', `/subscriptions/${subscription}/suspend`);
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('alert').getByText('Somebody else changed it').waitFor();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Close the subscription' }).click();
    await page.getByText('closed', { exact: true }).waitFor();
  },

  'a subscription has limits, for all models and for one': async (scene) => {
    const { page, admin, signIn, screenshot } = scene;
    const { id, subscription } = await newKey(scene, 'limited');
    const limits = async () => {
      const { all, models } = await adminCall(scene, 'GET', `/limits/${subscription}`);
      return { all, models };
    };
    await signIn();
    await page.goto(`${admin}/#/keys/subscriptions/${subscription}`);
    const form = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit the limits of all other models' }).click();
    await form.getByLabel('Requests at once').fill('8');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New limits of a model' }).click();
    await form.getByLabel('Model').fill('sluice/chat');
    await form.getByLabel('Requests per minute').fill('120');
    await form.getByLabel('Tokens per minute', { exact: true }).fill('50000');
    await checkAccessibility(page);
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '50,000' }).waitFor();
    assert.deepEqual(await limits(), {
      all: { concurrency: 8 },
      models: { 'sluice/chat': { requests_per_minute: 120, tokens_per_minute: 50_000 } },
    });
    await checkAccessibility(page);
    await screenshot('console-subscription');
    await page.getByRole('button', { name: 'Edit the limits of sluice/chat' }).click();
    await form.getByLabel('Tokens per minute', { exact: true }).fill('');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '50,000' }).waitFor({ state: 'detached' });
    assert.deepEqual((await limits()).models, { 'sluice/chat': { requests_per_minute: 120 } });
    await page.getByRole('button', { name: 'Remove the limits of sluice/chat' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the limits' }).click();
    await page.getByRole('cell', { name: 'sluice/chat', exact: true }).waitFor({ state: 'detached' });
    assert.deepEqual(await limits(), { all: { concurrency: 8 }, models: {} });
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of [`subscriptions/${subscription}`, id]) {
      await page.goto(`${admin}/#/keys/${path}`);
      await page.getByText('There is no budget').waitFor();
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.equal(overflow, 0, `${path} is wider than a small screen`);
    }
  },
};

export default scenarios;
