/** Tests that no field on any route accepts or calls a private address in any notation. */
import { createServer } from 'node:net';
import t from 'tap';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

/** Whoever connects here was sent by us. */
let connections = 0;
const trap = createServer((socket) => {
  connections++;
  socket.destroy();
});
await new Promise<void>((resolve) => trap.listen(0, '::', resolve));
t.teardown(() => trap.close());
const address = trap.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;

const hosts = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  '169.254.169.254',
  '10.0.0.1',
  '①②⑦.0.0.1',
];
const lowPort = 'https://example.com:22/a.png';
const urls = [
  ...hosts.map((host) => `https://${host}:${port}/a.png`),
  `http://127.0.0.1:${port}/a.png`,
  `https://user:secret@127.0.0.1:${port}/a.png`,
  `https://example.com@127.0.0.1:${port}/a.png`,
  `https:\\\\127.0.0.1:${port}\\a.png`,
  lowPort,
  'file:///etc/passwd',
  'gopher://127.0.0.1/',
];

const said = (content: unknown) => [{ role: 'user', content }];
const vision = { model: 'sluice/vision', max_tokens: 5 };
const picture = { prompt: 'A lock', model: 'sluice/image-edit' };
const clip = { model: 'sluice/video', prompt: '/sim render=10m\nA lock' };
const song = { model: 'sluice/music', prompt: '/sim render=10m\nA lock' };

const fields: Readonly<Record<string, readonly [path: string, body: (url: string) => object]>> = {
  'chat image': [
    '/chat/completions',
    (url) => ({ ...vision, messages: said([{ type: 'image_url', image_url: { url } }]) }),
  ],
  'chat video': [
    '/chat/completions',
    (url) => ({ ...vision, messages: said([{ type: 'video_url', video_url: { url } }]) }),
  ],
  'chat file': [
    '/chat/completions',
    (url) => ({ ...vision, messages: said([{ type: 'file', file: { filename: 'a.pdf', file_data: url } }]) }),
  ],
  'messages image': [
    '/messages',
    (url) => ({ ...vision, messages: said([{ type: 'image', source: { type: 'url', url } }]) }),
  ],
  'responses image': [
    '/responses',
    (url) => ({ model: 'sluice/vision', input: said([{ type: 'input_image', image_url: url }]) }),
  ],
  'responses file': [
    '/responses',
    (url) => ({ model: 'sluice/vision', input: said([{ type: 'input_file', file_url: url }]) }),
  ],
  'image reference': [
    '/images',
    (url) => ({ ...picture, input_references: [{ type: 'image_url', image_url: { url } }] }),
  ],
  'image to edit': ['/images/edits', (url) => ({ ...picture, images: [{ image_url: url }] })],
  'video frame': [
    '/videos',
    (url) => ({
      ...clip,
      frame_images: [{ type: 'image_url', image_url: { url }, frame_type: 'first_frame' }],
    }),
  ],
  'video reference': [
    '/videos',
    (url) => ({ ...clip, input_references: [{ type: 'video_url', video_url: { url } }] }),
  ],
  'video callback': ['/videos', (url) => ({ ...clip, callback_url: url })],
  'music callback': ['/music', (url) => ({ ...song, callback_url: url })],
};

/** Told off before anything is asked of anybody. */
const tellsOff =
  /must be an https URL|must not hold a user name|must use port|must be (?:a|an) (?:https|base64|data)|data URI/;

for (const [name, [path, body]] of Object.entries(fields))
  t.test(name, async (t) => {
    // A receiver of webhooks may listen on any port: it is sent to over TLS, and nothing is fetched from it.
    const refused = name.endsWith('callback') ? urls.filter((url) => url !== lowPort) : urls;
    for (const url of refused) {
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
        body: JSON.stringify(body(url)),
      });
      const answer = (await response.json()) as { error?: { message: string } };
      t.equal(response.status, 400, `${url} ${JSON.stringify(answer).slice(0, 200)}`);
      t.match(answer.error?.message, tellsOff, url);
    }
    t.equal(connections, 0);
  });

t.test('counting tokens calls no address', async (t) => {
  for (const url of urls)
    await fetch(`${gateway.url}/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sluice/vision',
        messages: said([{ type: 'image', source: { type: 'url', url } }]),
      }),
    });
  t.equal(connections, 0);
});
