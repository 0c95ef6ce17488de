/** Tests image engines over HTTP: requests, responses and failures. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { of, throwError } from 'rxjs';
import t, { type Test } from 'tap';
import { editImage } from '../../src/catalog/image-models.ts';
import { createEngine } from '../../src/engines/engine.ts';
import { fail } from '../../src/errors.ts';
import { plainMedia } from '../../src/media/media-data.ts';
import type { ImageCall } from '../../src/ports/engines/image.ts';
import type { Media } from '../../src/ports/media.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { sampleModel } from '../samples.ts';
import { shared } from '../shared.ts';
import { drawnBy, flow, imageCall, plainPicture, rightHalfMask } from './image-calls.ts';
import { type ReceivedRequest, type Script, startScriptedEngine } from './scripted-engine.ts';

const model = sampleModel({ kind: 'image', served_as: 'artist' });
const log = pino({ level: 'silent' });

interface EngineSetting {
  readonly media?: Pick<Media, 'read'>;
  readonly row?: { readonly fan_out_n?: boolean; readonly timeouts?: { readonly total: string } };
}

const engineAt = (t: Test, url: string, { media, row }: EngineSetting = {}) => {
  const engine = createEngine(
    'far',
    { wire: 'openai', replicas: [url], key_env: 'KEY', ...row },
    { log, env: { KEY: 'sk-far' }, ...(media === undefined ? {} : { media: shared(media) }) },
  );
  t.teardown(() => engine.close());
  return (change: Partial<ImageCall> = {}) => drawnBy(engine.image?.(model, imageCall(change), flow));
};

const start = async (t: Test, script: Script, setting: EngineSetting = {}) => {
  const far = await startScriptedEngine(script);
  t.teardown(() => far.close());
  return { far, draw: engineAt(t, far.url, setting) };
};

const answering =
  (...data: unknown[]): Script =>
  (request) =>
    request.json(200, { created: 1, data });

t.test('the simulator gives the same over HTTP as in process', async (t) => {
  const server = await startSimulatorServer();
  t.teardown(() => server.close());
  const far = engineAt(t, server.url);
  const near = createSimulator();
  const red = await plainPicture([250, 0, 0], 256, 192, 'jpeg');
  const calls: readonly Partial<ImageCall>[] = [
    {},
    { n: 3, steps: 8, guidanceScale: 2.5, negativePrompt: 'rain, "snow"\nand \\ hail', seed: -(2n ** 63n) },
    { outputFormat: 'webp', outputCompression: 30, background: 'transparent', prompt: 'Ümläute 😀' },
    { references: [red] },
    { references: [red, await plainPicture([0, 250, 0])], mask: await rightHalfMask(), seed: 2n ** 63n - 1n },
  ];
  for (const call of calls) {
    const [over, inside] = await Promise.all([
      far(call),
      drawnBy(near.image?.(model, imageCall(call), flow)),
    ]);
    t.strictSame(
      over.map(({ index, image }) => [index, image.mediaType, image.bytes.toString('base64')]),
      inside.map(({ index, image }) => [index, image.mediaType, image.bytes.toString('base64')]),
    );
  }
});

t.test('the request for a prompt alone', async (t) => {
  const { far, draw } = await start(t, answering({ b64_json: 'iVBORw0KGgo=' }));
  await draw();
  await draw({
    seed: 9223372036854775807n,
    steps: 8,
    guidanceScale: 0,
    negativePrompt: 'rain',
    outputFormat: 'webp',
    outputCompression: 50,
    background: 'transparent',
  });
  const [plain, full] = far.requests;
  t.match(plain?.head, /^POST \/v1\/images\/generations HTTP\/1\.1\r\n/);
  t.match(plain?.head, /\r\nauthorization: Bearer sk-far\r\n/i);
  t.match(plain?.head, /\r\ncontent-type: application\/json\r\n/i);
  t.equal(
    plain?.body,
    '{"model":"artist","prompt":"A lighthouse at dusk","n":1,"size":"256x192","response_format":"b64_json","seed":42}',
  );
  t.match(full?.body, /,"seed":9223372036854775807}$/, 'every digit of the seed');
  t.match(JSON.parse(full?.body ?? ''), {
    num_inference_steps: 8,
    guidance_scale: 0,
    negative_prompt: 'rain',
    output_format: 'webp',
    output_compression: 50,
    background: 'transparent',
  });
});

t.test('images are sent as a form, byte for byte', async (t) => {
  const red = await plainPicture([250, 0, 0], 64, 64, 'jpeg');
  const mask = await rightHalfMask(64, 64);
  const { far, draw } = await start(t, answering({ b64_json: 'iVBORw0KGgo=' }));
  await draw({ references: [red] });
  await draw({ references: [red, red], mask, seed: undefined });
  const [one, two] = far.requests;
  t.match(one?.head, /^POST \/v1\/images\/edits HTTP\/1\.1\r\n/);
  t.match(one?.head, /\r\ncontent-type: multipart\/form-data; boundary=/i);
  t.notMatch(one?.head, /application\/json/);
  const names = (request: ReceivedRequest | undefined) =>
    [...(request?.body ?? '').matchAll(/ name="([^"]+)"(?:; filename="([^"]+)")?/g)].map(
      ([, name, file]) => `${name}${file === undefined ? '' : `=${file}`}`,
    );
  const fields = ['model', 'prompt', 'n', 'size', 'response_format'];
  t.strictSame(names(one), [...fields, 'seed', 'image=image-1.jpeg']);
  t.strictSame(names(two), [...fields, 'image[]=image-1.jpeg', 'image[]=image-2.jpeg', 'mask=mask.png']);
});

t.test('responses in the formats of engines', async (t) => {
  const png = randomBytes(30_000);
  const { far, draw } = await start(t, () => undefined);
  const base64 = png.toString('base64');
  const bytesOf = async (...data: unknown[]) => {
    far.script = answering(...data);
    const [drawn] = await draw();
    return drawn;
  };
  t.ok((await bytesOf({ b64_json: base64, url: null }))?.image.bytes.equals(png));
  t.ok((await bytesOf({ url: `data:image/png;base64,${base64}` }))?.image.bytes.equals(png), 'a data URI');
  t.ok((await bytesOf({ b64_json: base64.replace(/=+$/, '') }))?.image.bytes.equals(png), 'without padding');
  t.ok((await bytesOf({ b64_json: base64.replace(/.{76}/g, '$&\n') }))?.image.bytes.equals(png), 'in lines');
  far.script = (request) => request.json(200, `{"data":[{"b64_json":"${base64.replaceAll('/', '\\/')}"}]}`);
  t.ok((await draw())[0]?.image.bytes.equals(png), 'escaped slashes');
  t.equal((await bytesOf({ b64_json: base64, revised_prompt: 'Better' }))?.revisedPrompt, 'Better');
  t.equal(
    (await bytesOf({ b64_json: base64, revised_prompt: 'A lighthouse at dusk' }))?.revisedPrompt,
    undefined,
    'the prompt itself is no revision',
  );
  const more = await bytesOf({ b64_json: base64 }, { b64_json: base64 });
  t.equal(more?.index, 0, 'more than was asked for is left aside');
  t.ok(more?.image.base64 instanceof Uint8Array, 'long base64 stays bytes');
});

t.test('links to the engine itself are fetched with its key', async (t) => {
  const png = randomBytes(200_000);
  const { far, draw } = await start(t, () => undefined);
  const serve = (url: string): Script => {
    return (request) => {
      if (request.head.startsWith('POST')) request.json(200, { data: [{ url }] });
      else {
        request.raw(`HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: ${png.length}\r\n\r\n`);
        request.raw(png);
      }
    };
  };
  const root = far.url.replace(/\/v1$/, '');
  for (const url of [`${root}/files/a%20b.png?x=1`, '/files/a%20b.png?x=1']) {
    far.script = serve(url);
    const [drawn] = await draw();
    t.ok(drawn?.image.bytes.equals(png), url);
    const asked = far.requests.at(-1)?.head ?? '';
    t.match(asked, /^GET \/files\/a%20b\.png\?x=1 HTTP\/1\.1\r\n/);
    t.match(asked, /authorization: Bearer sk-far/i);
  }
  far.script = (request) =>
    request.head.startsWith('POST')
      ? request.json(200, { data: [{ url: '/gone.png' }] })
      : request.json(404, {});
  await t.rejects(draw(), fail('engine_unreachable', 'The image that the engine made cannot be fetched'));
});

t.test('other links go through the guarded fetch, or nowhere', async (t) => {
  const elsewhere = answering({ url: 'https://files.example/a.png' });
  const lost = fail('engine_unreachable', 'The image that the engine made cannot be fetched');
  const asked: string[] = [];
  const png = randomBytes(100);
  const open = await start(t, elsewhere, {
    media: {
      read: (url) => {
        asked.push(String(url));
        return of(plainMedia(png));
      },
    },
  });
  t.ok((await open.draw())[0]?.image.bytes.equals(png));
  t.strictSame(asked, ['https://files.example/a.png']);
  const refusing = { read: () => throwError(() => fail('invalid_request', 'private address')) };
  await t.rejects((await start(t, elsewhere, { media: refusing })).draw(), lost);
  await t.rejects((await start(t, elsewhere)).draw(), lost);
});

t.test('an engine that makes one image at a time is called several times', async (t) => {
  const { far, draw } = await start(t, answering({ b64_json: 'iVBORw0KGgo=' }), { row: { fan_out_n: true } });
  const drawn = await draw({ n: 3, seed: 2n ** 63n - 1n });
  t.strictSame(
    drawn.map(({ index }) => index),
    [0, 1, 2],
  );
  const seeds = far.requests.map(({ body }) => /"n":1,.*"seed":(-?\d+)/.exec(body)?.[1]).sort();
  t.strictSame(seeds, ['-9223372036854775807', '-9223372036854775808', '9223372036854775807']);
});

t.test('failures', async (t) => {
  const { far, draw } = await start(t, () => undefined, { row: { timeouts: { total: '300ms' } } });
  const fails = async (script: Script, error: Error, call: Partial<ImageCall> = {}) => {
    far.script = script;
    await t.rejects(draw(call), error);
  };
  const none = fail('engine_unreachable', 'The model answered without an image');
  await fails(answering(), none);
  await fails(answering({}), none);
  await fails(answering({ b64_json: null, url: null }), none);
  await fails(answering({ b64_json: '' }), none);
  await fails((request) => request.json(200, {}), none);
  await fails(
    answering({ b64_json: 'iVBORw0KGgo=' }),
    fail('engine_unreachable', 'The model made 1 of 2 images'),
    { n: 2 },
  );
  const unreadable = fail('engine_unreachable', 'The engine sent an answer that cannot be read');
  await fails((request) => request.json(200, '{"data":[{"b64_json":"iVBO'), unreadable);
  await fails((request) => request.json(200, '<html>'), unreadable);
  await fails((request) => request.json(200, '{"data":[{"b64_json":"ä"}]}'), unreadable);
  await fails(
    answering({ b64_json: '????' }),
    fail('engine_unreachable', 'The engine sent an image that cannot be read'),
  );
  await fails(
    (request) => request.json(200, { error: { message: 'No more memory', code: 503 } }),
    fail('unavailable', 'No more memory'),
  );
  const kindOf = async (script: Script) => {
    far.script = script;
    return draw().then(
      () => 'none',
      (error: { kind?: string }) => error.kind,
    );
  };
  const refusal = { error: { message: 'The prompt was refused', code: 400 } };
  t.equal(await kindOf((request) => request.json(400, refusal)), 'invalid_request');
  await t.rejects(draw(), { message: 'The prompt was refused' });
  t.equal(await kindOf((request) => request.json(503, {})), 'unavailable');
  t.equal(await kindOf((request) => request.json(500, {})), 'engine_unreachable');
  t.equal(await kindOf(() => undefined), 'timeout');
});

t.test('unsubscribing ends the call', async (t) => {
  const far = await startScriptedEngine(() => undefined);
  t.teardown(() => far.close());
  const engine = createEngine('far', { wire: 'openai', replicas: [far.url] }, { log, env: {} });
  t.teardown(() => engine.close());
  const drawing = engine.image?.(model, imageCall(), flow).subscribe();
  const request = await far.request(0);
  drawing?.unsubscribe();
  await request.gone;
  t.pass('the connection is gone');
});

t.test('a response of many megabytes stays bytes, and is read with a quota per tick', async (t) => {
  const bytes = randomBytes(24 * 1024 * 1024);
  const head = Buffer.from('{"data":[{"b64_json":"');
  const base64 = Buffer.from(bytes.toString('base64'), 'latin1');
  const { draw } = await start(t, (request) => {
    const length = head.length + base64.length + 4;
    request.raw(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`);
    for (const piece of [head, base64, Buffer.from('"}]}')]) request.raw(piece);
  });
  let turns = 0;
  const count = (): void => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const [drawn] = await draw();
  clearImmediate(next);
  t.ok(turns >= base64.length / (1.125 * 1024 * 1024), `read in ${turns} turns`);
  t.equal(drawn?.image.size, bytes.length);
  t.ok(drawn?.image.base64 instanceof Uint8Array);
  t.ok(drawn?.image.bytes.equals(bytes));
});

t.test('chained gateways give the same images', async (t) => {
  const behind = await startGateway();
  t.teardown(() => behind.stop());
  process.env.SLUICE_TEST_FAR_KEY = behind.key;
  const row = {
    kind: 'image',
    engine: 'far',
    served_as: 'sluice/image-edit',
    capabilities: { image: editImage },
  };
  const catalog = JSON.stringify({
    engines: { far: { wire: 'openai', replicas: [behind.url], key_env: 'SLUICE_TEST_FAR_KEY' } },
    models: { 'far/edit': row },
    defaults: { image: 'far/edit' },
  });
  const front = await startGateway({ catalog });
  t.teardown(() => front.stop());
  const images = async ({ url, key }: TestGateway, path: string, model: string, body: string | FormData) => {
    const isForm = typeof body !== 'string';
    if (isForm) body.set('model', model);
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm ? body : `{"model":"${model}",${body}}`,
    });
    t.equal(response.status, 200);
    return ((await response.json()) as { data: { b64_json: string }[] }).data.map(({ b64_json }) => b64_json);
  };
  const both = (path: string, body: string | FormData) =>
    Promise.all([images(front, path, 'far/edit', body), images(behind, path, 'sluice/image-edit', body)]);

  const [far, near] = await both(
    '/images',
    '"prompt":"Twins","size":"256x256","n":2,"seed":-9223372036854775808,"steps":5,"output_format":"webp","background":"transparent"',
  );
  t.equal(far?.length, 2);
  t.strictSame(far, near);

  const form = new FormData();
  for (const [name, value] of Object.entries({
    prompt: 'Snow',
    size: '256x256',
    seed: '7',
    response_format: 'b64_json',
  }))
    form.set(name, value);
  for (const picture of [await plainPicture([250, 0, 0]), await plainPicture([0, 250, 0])])
    form.append('image[]', new Blob([new Uint8Array(picture.bytes)], { type: 'image/png' }), 'picture.png');
  form.append(
    'mask',
    new Blob([new Uint8Array((await rightHalfMask()).bytes)], { type: 'image/png' }),
    'mask.png',
  );
  const [farEdit, nearEdit] = await both('/images/edits', form);
  t.equal(farEdit?.length, 1);
  t.strictSame(farEdit, nearEdit);
});
