/** The playground's images, speech, transcription, videos and songs. */
import assert from 'node:assert/strict';
import { checkAccessibility } from '../axe.ts';
import { openPlayground, played, send, stateOf } from '../playground.ts';
import type { Scenarios } from '../scene.ts';

const hostileName = `<img src=x onerror="document.title='run'">.mp3`;

const scenarios: Scenarios = {
  'an image appears, and is edited': async (scene) => {
    const { page, screenshot } = scene;
    await openPlayground(scene, 'images');
    await page.getByLabel('Size').fill('512x256');
    await send(page, 'Create');
    const image = page.getByRole('img', { name: 'A lighthouse at dusk' });
    await image.waitFor();
    assert.deepEqual(
      await image.evaluate((element: { naturalWidth: number; naturalHeight: number }) => [
        element.naturalWidth,
        element.naturalHeight,
      ]),
      [512, 256],
    );
    assert.match(await page.locator('.figures').innerText(), /Cost\s+\$0\.000655/);
    await checkAccessibility(page);
    await screenshot('playground-images');

    const source = (await image.getAttribute('src')) ?? '';
    await page.getByLabel('Model', { exact: true }).selectOption('sluice/image-edit');
    await page.getByLabel('Images to edit').setInputFiles({
      name: 'lighthouse.png',
      mimeType: 'image/png',
      buffer: Buffer.from(source.slice(source.indexOf(',') + 1), 'base64'),
    });
    await page.getByRole('region', { name: 'as curl' }).getByText('image[]=@"./lighthouse.png"').waitFor();
    await page.getByLabel('Prompt').fill('Make it night');
    await send(page, 'Create');
    await page.getByRole('img', { name: 'Make it night' }).waitFor();
  },

  'speech plays while it arrives': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'speech');
    await page.getByLabel('Text').fill('/sim rate=8/s\nThe gates are open, and the water rises slowly.');
    await page.getByRole('button', { name: 'Speak', exact: true }).click();
    await page.getByText(/^Heard (0\.[1-9]|[1-9]\.\d) s of/).waitFor();
    assert.equal(await stateOf(page, 'Speak').innerText(), 'Running …', 'heard before it was complete');
    await stateOf(page, 'Speak').getByText('Done.').waitFor();
    assert.ok((await played(page.getByLabel('The speech'))) >= 0.2);
    await checkAccessibility(page);

    await page.getByLabel('Text').fill('The gates are open.');
    await page.getByLabel('Format').selectOption('mp3');
    await page.getByLabel('Voice').selectOption('ben');
    await send(page, 'Speak');
    assert.match(await page.locator('.figures').innerText(), /Cost\s+\$0\.0006/);
    assert.ok((await played(page.getByLabel('The speech'))) >= 0.2);
  },

  'a file is transcribed, and what the microphone records': async (scene) => {
    const { page, context, root, key } = scene;
    const spoken = await fetch(`${root}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sluice/speech', input: 'The gates are open.' }),
    });
    const buffer = Buffer.from(await spoken.arrayBuffer());
    await openPlayground(scene, 'transcription');
    await page
      .getByLabel('Recording', { exact: true })
      .setInputFiles({ name: hostileName, mimeType: 'audio/mpeg', buffer });
    await page.getByText(hostileName, { exact: true }).waitFor();
    await send(page, 'Transcribe');
    await page.locator('.text-result').getByText('The gates are open.', { exact: true }).waitFor();
    assert.match(await page.locator('.figures').innerText(), /Seconds\s+2/);
    assert.equal(await page.locator('main img').count(), 0);
    assert.equal(await page.title(), 'Playground · Sluice');
    await checkAccessibility(page);

    await context.grantPermissions(['microphone'], { origin: root });
    await page.getByRole('button', { name: 'Record from the microphone' }).click();
    await page.getByText('Recording …').waitFor();
    await page.waitForTimeout(1_500);
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.getByText('recording.webm', { exact: true }).waitFor();
    await send(page, 'Transcribe');
    assert.notEqual(await page.locator('.text-result').innerText(), 'The gates are open.');
  },

  'a song is heard while it renders, and plays': async (scene) => {
    const { page } = scene;
    await openPlayground(scene, 'music');
    await page.getByLabel('Prompt').fill('/sim render=6s\nA slow waltz');
    await page.getByRole('button', { name: 'Compose', exact: true }).click();
    await page.getByText(/^Heard (0\.[1-9]|[1-9]\.\d) s of/).waitFor();
    const song = page.getByLabel('The song');
    assert.equal(await song.count(), 0, 'heard before it was complete');
    await stateOf(page, 'Compose').getByText('Done.').waitFor();
    await page.getByText('Progress: 100 %').waitFor();
    assert.ok((await played(song)) >= 0.2);
    const seconds = await song.evaluate((element: { duration: number }) => element.duration);
    assert.ok(seconds > 5 && seconds < 11, `it has ${seconds} s`);
    await checkAccessibility(page);
  },

  'a video is rendered, fails, or is cancelled': async (scene) => {
    const { page, root, key } = scene;
    await openPlayground(scene, 'video');
    await send(page, 'Render');
    const clip = page.getByLabel('The clip');
    assert.ok((await played(clip)) >= 0.2);
    assert.equal(await clip.evaluate((element: { videoWidth: number }) => element.videoWidth), 768);
    assert.match(await page.locator('.figures').innerText(), /Cost\s+\$0\.16/);
    await checkAccessibility(page);

    await page.getByLabel('Prompt').fill('/sim fail=content_policy@50%\nA boat');
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/^The job failed/)
      .waitFor();

    await page.getByLabel('Prompt').fill('/sim render=2m\nA boat');
    await page.getByRole('button', { name: 'Render', exact: true }).click();
    await page.getByText('in progress').waitFor();
    const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    assert.equal((await deleted).status(), 200);
    const jobs = await fetch(`${root}/v1/videos?limit=1`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(((await jobs.json()) as { data: { status: string }[] }).data[0]?.status, 'cancelled');
  },
};

export default scenarios;
