/** Tests that frames, references, callbacks and seeds of video requests are looked at before a job exists. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import t from 'tap';
import { cut, html } from '../engines/media-stand-in.ts';
import { envelope } from '../envelope.ts';
import { startGateway } from '../gateway.ts';
import { heic } from '../images/heic.ts';
import { onlyLong } from '../long.ts';
import { clip, dataUri, mp3, picture, wav } from './media-samples.ts';

const gateway = await startGateway({ env: { SLUICE_ALLOW_PRIVATE_URLS: '1' } });
const strict = await startGateway();

/** Serves a page as a picture. */
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'image/png' }).end(html);
});
await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/picture.png`;
t.teardown(async () => {
  server.close();
  server.closeAllConnections();
  await gateway.stop();
  await strict.stop();
});

const post = async (fields: object | string, to = gateway, path = '/videos') => {
  const good = { model: path === '/videos' ? 'sluice/video' : 'sluice/music', prompt: '/sim render=60s' };
  const response = await fetch(`${to.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.key}`, 'content-type': 'application/json' },
    body: typeof fields === 'string' ? fields : JSON.stringify({ ...good, ...fields }),
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) };
};
const form = async (bytes: Buffer, type: string) => {
  const body = new FormData();
  body.append('model', 'sluice/video');
  body.append('prompt', '/sim render=60s');
  body.append('input_reference', new File([new Uint8Array(bytes)], 'first.png', { type }));
  const response = await fetch(`${gateway.url}/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body,
  });
  return { status: response.status, body: await response.json() };
};
const refused = (message: string) => envelope(400, message, 'validation_error', 'invalid_request');

const kinds = 'must be a JPG, PNG, WEBP, HEIC or HEIF image, not something else';
const damaged = 'cannot be read: the picture is damaged';
const noise = await sharp({
  create: {
    width: 300,
    height: 300,
    channels: 3,
    noise: { type: 'gaussian', mean: 128, sigma: 60 },
    background: '#000',
  },
})
  .png()
  .toBuffer();
const jpeg = await sharp(noise).jpeg().toBuffer();
const webp = await sharp(noise).webp().toBuffer();
const wide = await sharp({ create: { width: 9000, height: 9000, channels: 3, background: '#fff' } })
  .png()
  .toBuffer();
const photo = await heic({ tiles: 2 });

t.test('what is no picture is refused by its path, wherever it stands', async (t) => {
  const rows: [string, string, string][] = [
    ['text that is called PNG', dataUri(Buffer.from('hello, this is a text'), 'image/png'), kinds],
    ['text that is called HEIC', dataUri(Buffer.from('hello, this is a text'), 'image/heic'), kinds],
    ['text that is called HEIF', dataUri(Buffer.from('hello, this is a text'), 'image/heif'), kinds],
    ['a page', dataUri(html, 'image/jpeg'), kinds],
    ['a page behind a link', page, kinds],
    [
      'a bitmap that is called PNG',
      dataUri(Buffer.concat([Buffer.from('BM'), Buffer.alloc(500, 7)]), 'image/png'),
      kinds,
    ],
    ['half a PNG', dataUri(cut(noise, 50)), damaged],
    ['half a JPEG', dataUri(cut(jpeg, 50)), damaged],
    ['half a WebP', dataUri(cut(webp, 50)), damaged],
    ['half a HEIC', dataUri(cut(photo, 70)), damaged],
    ['the head of a HEIC', dataUri(photo.subarray(0, 24)), damaged],
    ['81 megapixels', dataUri(wide), 'has more than 67108864 pixels'],
    [
      'a HEIC of 81 megapixels',
      dataUri(await heic({ size: { width: 9000, height: 9000 } })),
      'has more than 67108864 pixels',
    ],
  ];
  for (const [what, url, problem] of rows) {
    const places: [object, string][] = [
      [
        { frame_images: [{ type: 'image_url', image_url: { url }, frame_type: 'last_frame' }] },
        'frame_images[0].image_url.url',
      ],
      [{ input_reference: url }, 'input_reference'],
      [{ input_reference: { image_url: url } }, 'input_reference.image_url'],
      [
        { input_references: [{ type: 'image_url', image_url: { url } }] },
        'input_references[0].image_url.url',
      ],
    ];
    for (const [fields, field] of places) {
      const said = await post(fields);
      t.equal(said.status, 400, `${what} at ${field}`);
      t.same(said.body, refused(`${field} ${problem}`), `${what} at ${field}`);
    }
  }
  t.same((await form(html, 'image/png')).body, refused(`input_reference ${kinds}`), 'a file of a form');
  t.same((await form(cut(noise, 60), 'image/png')).body, refused(`input_reference ${damaged}`));
});

t.test('pictures of every kind are taken, whatever they are called', { skip: onlyLong }, async (t) => {
  for (const bytes of [noise, jpeg, webp, photo, await heic({ brand: 'mif1' })])
    for (const type of ['image/png', 'text/plain', 'application/octet-stream']) {
      const said = await post({ input_reference: dataUri(bytes, type) });
      t.equal(said.status, 202, said.text);
    }
  t.equal((await form(photo, 'application/octet-stream')).status, 202);
});

t.test('base64 in lines, and without its padding', { skip: onlyLong }, async (t) => {
  // Small enough for one thread, and large enough for another.
  for (const bytes of [await picture('png'), noise, Buffer.concat([noise, Buffer.alloc(2_000_001)])]) {
    const plain = bytes.toString('base64');
    const forms = {
      'in lines': plain.replace(/(.{76})/g, '$1\n'),
      'in lines of another system': plain.replace(/(.{64})/g, '$1\r\n'),
      unpadded: plain.replace(/=+$/, ''),
      'in lines, unpadded': `${plain.replace(/=+$/, '').replace(/(.{76})/g, '$1\n')}\n`,
    };
    for (const [how, base64] of Object.entries(forms)) {
      const said = await post({ input_reference: `data:image/png;base64,${base64}` });
      t.equal(said.status, 202, `${how}, ${bytes.length} bytes: ${said.text.slice(0, 200)}`);
    }
    const odd = await post({
      input_reference: `data:image/png;base64,${plain.slice(0, 40)}*${plain.slice(41)}`,
    });
    t.same(odd.body, refused('input_reference is not valid base64'));
  }
});

t.test('an MP3 that begins between two frames', { skip: onlyLong }, async (t) => {
  const whole = await mp3(4);
  for (const start of [0, 1, 100, 333]) {
    const url = dataUri(whole.subarray(start), 'audio/mpeg');
    const said = await post({ input_references: [{ type: 'audio_url', audio_url: { url } }] });
    t.equal(said.status, 202, `from byte ${start}: ${said.text}`);
  }
});

t.test('sound and clips that are none', async (t) => {
  const text = dataUri(Buffer.from('hello, this is a text'), 'audio/mpeg');
  const sound = await post({ input_references: [{ type: 'audio_url', audio_url: { url: text } }] });
  t.same(
    sound.body,
    refused('input_references[0].audio_url.url must be a WAV or MP3 clip, not something else'),
  );
  const film = dataUri(cut(await clip(3), 50), 'video/mp4');
  const cutClip = await post({ input_references: [{ type: 'video_url', video_url: { url: film } }] });
  t.match(cutClip.body.error.message, /^input_references\[0\]\.video_url\.url cannot be read: /);
  t.equal(
    (await post({ input_references: [{ type: 'audio_url', audio_url: { url: dataUri(wav(3)) } }] })).status,
    202,
  );
});

t.test('callbacks', async (t) => {
  const taken: [string, typeof gateway][] = [
    ['https://example.com/hook', strict],
    ['https://example.com:25/hook', strict],
    ['https://example.com:80/hook', strict],
    ['https://example.com:993/hook', strict],
    ['https://example.com:8443/hook', strict],
    ['https://example.com:22/hook', gateway],
    ['http://127.0.0.1:9/hook', gateway],
    ['http://localhost:9/hook', gateway],
    ['http://hooks:8080/hook', gateway],
    ['http://hooks.internal/hook', gateway],
    ['http://10.1.2.3/hook', gateway],
    ['https://10.1.2.3/hook', gateway],
  ];
  for (const [callback_url, to] of taken)
    for (const path of ['/videos', '/music']) {
      const said = await post({ callback_url }, to, path);
      t.equal(said.status, 202, `${callback_url}: ${said.text}`);
      await fetch(`${to.url}${path}/${said.body.id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${to.key}` },
      });
    }
  const open = 'callback_url must be an https URL';
  const closed = `${open} on a public host`;
  const refusals: [string, typeof gateway, string][] = [
    ['http://example.com/hook', gateway, open],
    ['http://hooks.example.org:8080/hook', gateway, open],
    ['http://8.8.8.8/hook', gateway, open],
    ['http://[2001:4860:4860::8888]/hook', gateway, open],
    ['http://example.com/hook', strict, closed],
    ['http://hooks.internal/hook', strict, closed],
    ['https://127.0.0.1/hook', strict, closed],
    ['https://127.0.0.1:25/hook', strict, closed],
  ];
  for (const [callback_url, to, problem] of refusals)
    for (const path of ['/videos', '/music'])
      t.same((await post({ callback_url }, to, path)).body, refused(problem), `${callback_url} at ${path}`);
});

t.test('seeds of 64 bits keep every digit', async (t) => {
  for (const path of ['/videos', '/music'])
    for (const digits of [
      '9223372036854775807',
      '-9223372036854775808',
      '9007199254740993',
      '7',
      '-1',
      '0',
    ]) {
      const model = path === '/videos' ? 'sluice/video' : 'sluice/music';
      for (const written of [digits, `"${digits}"`]) {
        const said = await post(
          `{"model":"${model}","prompt":"/sim render=60s","seed":${written}}`,
          gateway,
          path,
        );
        t.equal(said.status, 202, said.text);
        t.match(said.text, new RegExp(`"seed":${digits},?`), `${written} at ${path}`);
        const headers = { authorization: `Bearer ${gateway.key}` };
        const read = await fetch(`${gateway.url}${path}/${said.body.id}`, { headers });
        t.ok((await read.text()).includes(`"seed":${digits}`));
        const list = await fetch(`${gateway.url}${path}?limit=1`, { headers });
        t.ok((await list.text()).includes(`"seed":${digits}`));
        const gone = await fetch(`${gateway.url}${path}/${said.body.id}`, { method: 'DELETE', headers });
        t.ok((await gone.text()).includes(`"seed":${digits}`));
      }
    }
  t.match((await post({ seed: 2 ** 63 })).text, /"seed":9223372036854775807\b/, 'as floats write it');
  for (const seed of [1.5, 'x', '', [1], true, 2 ** 64])
    t.match((await post({ seed })).body, { error: { code: 400, message: /^seed must be / } }, String(seed));
});
