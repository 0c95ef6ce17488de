/** `tsx test/node/smoke.ts <base address> <key>`: one request for each native package of a gateway. */
const [base = '', key = ''] = process.argv.slice(2);
const patience = 120_000;

const post = async (path: string, body: unknown): Promise<Response> => {
  const form = body instanceof FormData;
  const response = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...(form ? {} : { 'content-type': 'application/json' }) },
    body: form ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(patience),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
};

/** What holds, or an error that says what does not. */
const expect = (what: string, holds: boolean): void => {
  if (!holds) throw new Error(what);
  console.log(`ok ${what}`);
};

const messages = [{ role: 'user', content: '/sim tokens=5\nhello' }];
const chat = await post('/chat/completions', { model: 'sluice/chat', messages });
expect('chat (uWebSockets.js)', (await chat.text()).includes('"finish_reason":"stop"'));

const image = await post('/images/generations', { prompt: 'a red boat', response_format: 'b64_json' });
const { data } = (await image.json()) as { data: readonly { b64_json: string }[] };
const png = Buffer.from(data[0]?.b64_json ?? '', 'base64');
expect('a picture (sharp)', png.subarray(1, 4).toString() === 'PNG');

const speech = await post('/audio/speech', {
  model: 'sluice/speech',
  input: 'The gates are open.',
  voice: 'ada',
  response_format: 'mp3',
});
const sound = Buffer.from(await speech.arrayBuffer());
expect('speech as MP3 (flite, ffmpeg)', sound.subarray(0, 3).toString() === 'ID3' && sound.length > 10_000);

const { id } = (await (await post('/vector_store', { name: 'smoke' })).json()) as { id: string };
const form = new FormData();
form.set('file', new Blob(['The lock keeper opens the upper gate at six.']), 'gate.txt');
await post(`/vector_store/${id}/files`, form);
const found = await post(`/vector_store/${id}/search`, { input: 'when does the upper gate open?' });
expect('a passage found (libsql)', (await found.text()).includes('at six'));
