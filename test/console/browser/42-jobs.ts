/** The console's jobs and webhooks: progress, cancelling, attempts, sending a delivery again. */
import assert from 'node:assert/strict';
import { patiently } from '../../eventually.ts';
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts';
import { checkAccessibility } from '../axe.ts';
import { newKey, publicCall } from '../calls.ts';
import type { Scenarios, Scene } from '../scene.ts';

const timeout = patiently(60_000);

const receiving =
  (scenario: (scene: Scene, receiver: Receiver) => Promise<void>) =>
  async (scene: Scene): Promise<void> => {
    const receiver = await startReceiver({ teardown: () => {} });
    try {
      await scenario(scene, receiver);
    } finally {
      await receiver.close();
    }
  };

const newJob = async (scene: Scene, key: string, path: string, fields: object): Promise<string> => {
  const { status, body } = await publicCall(scene, key, path, fields);
  assert.equal(status, 202, JSON.stringify(body));
  return body.id;
};

const scenarios: Scenarios = {
  'a job appears, renders and is cancelled': async (scene) => {
    const { page, signIn, screenshot } = scene;
    const { secret } = await newKey(scene, 'film studio');
    await signIn();
    await page.getByRole('link', { name: 'Jobs & webhooks' }).click();
    const video = { model: 'sluice/video', duration: 4 };
    const failed = await newJob(scene, secret, '/videos', {
      ...video,
      prompt: '/sim render=500ms fail=render_failed@50%\nA storm',
    });
    const jobs = page.getByRole('table', { name: 'Videos' });
    const rowOf = (id: string) => jobs.getByRole('row').filter({ hasText: id });
    await rowOf(failed).getByText('failed', { exact: true }).waitFor({ timeout });
    const id = await newJob(scene, secret, '/videos', { ...video, prompt: '/sim render=60s\nA lighthouse' });
    const row = rowOf(id);
    await row.getByText('in_progress').waitFor({ timeout });
    await row.getByText(/^[1-9]\d? %$/).waitFor({ timeout });
    await checkAccessibility(page);
    await screenshot('console-jobs');
    await page.getByLabel('State').selectOption('completed');
    await page.getByText(/^(No job matches|There is no job)/).waitFor();
    await page.getByLabel('State').selectOption('in_progress');
    await row.getByRole('link', { name: id }).click();
    await page.getByRole('heading', { name: 'Video', level: 1 }).waitFor();
    await page.getByRole('progressbar', { name: `Progress of ${id}` }).waitFor();
    await checkAccessibility(page);
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByText('cancelled', { exact: true }).waitFor({ timeout });
    assert.equal((await publicCall(scene, secret, `/videos/${id}`)).body.status, 'cancelled');
    assert.equal(await page.getByRole('button', { name: 'Cancel the job' }).count(), 0);

    await page.getByRole('link', { name: 'All jobs' }).click();
    await page.getByRole('tab', { name: 'Music' }).click();
    const song = await newJob(scene, secret, '/music', {
      ...{ model: 'sluice/music', prompt: '/sim render=1s\nA waltz', duration: 5, response_format: 'wav' },
    });
    const songs = page.getByRole('table', { name: 'Songs' }).getByRole('row').filter({ hasText: song });
    await songs.getByText('completed').waitFor({ timeout });
    await songs.getByText('100 %').waitFor();
  },

  'a webhook that failed is sent again': receiving(async (scene, receiver) => {
    const { page, signIn, screenshot } = scene;
    const { secret } = await newKey(scene, 'receiver');
    receiver.behave = (response) => response.writeHead(503).end();
    const id = await newJob(scene, secret, '/videos', {
      ...{ model: 'sluice/video', duration: 4, callback_url: receiver.url },
      prompt: '/sim render=500ms fail=render_failed@50%\nA storm',
    });
    await signIn();
    await page.getByRole('link', { name: 'Jobs & webhooks' }).click();
    await page.getByRole('table', { name: 'Videos' }).getByRole('link', { name: id }).click({ timeout });
    await page.getByText('failed', { exact: true }).waitFor({ timeout });
    await page.getByRole('link', { name: 'Its webhooks' }).click();
    const row = page
      .getByRole('table', { name: 'Webhook deliveries' })
      .getByRole('row')
      .filter({ hasText: `${id}-failed` });
    await row.getByText(/503/).waitFor({ timeout });
    await row.getByText('waiting').waitFor();
    await row.getByText(receiver.url).waitFor();
    await checkAccessibility(page);
    await row.getByRole('link', { name: `${id}-failed` }).click();
    const attempts = page.getByRole('table', { name: 'Attempts' }).locator('tbody tr');
    await attempts.first().getByText(/503/).waitFor();
    assert.equal(receiver.deliveries.length, 1);

    receiver.behave = (response) => response.writeHead(204).end();
    await page.getByRole('button', { name: 'Send it again' }).click();
    await page.getByText('delivered', { exact: true }).waitFor({ timeout });
    await attempts.first().getByText('204').waitFor();
    assert.equal(await attempts.count(), 2);
    assert.equal(receiver.deliveries.length, 2);
    const [first, second] = receiver.deliveries;
    assert.ok(first !== undefined && second !== undefined && first.body.equals(second.body));
    assert.equal(second.headers['x-service-idempotency-key'], `${id}-failed`);
    await checkAccessibility(page);
    await screenshot('console-delivery');
  }),
};

export default scenarios;
