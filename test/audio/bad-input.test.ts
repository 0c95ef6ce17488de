/** Tests that invalid audio requests are refused with an error that names the field. */
import t from 'tap';
import { namedField } from '../envelope.ts';
import { someOf } from '../long.ts';
import { bytesOf, fileOf, startSounding } from './sound-gateway.ts';
import { codec, film, tone, wave } from './sounds.ts';

const { gateway, events, post, postForm, get } = await startSounding({
  catalog: `
models:
  sluice/speech:
    kind: speech
    engine: simulator
    voices: [ada, ben]
    per_request_limits: { max_prompt_length: 40 }
    capabilities: { speech: { design: true, clone: true } }
  sluice/plain: { kind: speech, engine: simulator, voices: [ada] }
  sluice/mute: { kind: speech, engine: simulator, capabilities: { speech: { clone: true } } }
  sluice/transcribe: { kind: transcription, engine: simulator }
  sluice/chat: { engine: simulator, context_length: 4096 }
`,
});
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const types: Readonly<Record<number, [type: string, errorType: string]>> = {
  400: ['validation_error', 'invalid_request'],
  404: ['not_found_error', 'not_found'],
  413: ['invalid_request_error', 'payload_too_large'],
};
const envelope = (status: number, message: string) => ({
  error: {
    code: status,
    message,
    type: types[status]?.[0],
    param: namedField(status, message),
    metadata: { error_type: types[status]?.[1] },
  },
});
const refused = async (t: Tap, response: Response, status: number, message: string, what: string) => {
  const body = await response.json();
  t.same([response.status, body], [status, envelope(status, message)], `${what}: ${message}`);
};
type Tap = { same(found: unknown, wanted: unknown, message: string): boolean };

const clip = await tone(1, 'mp3');
const audio = (data: unknown = clip.toString('base64')) => ({ type: 'input_audio', input_audio: { data } });
const oneOf = (field: string, ...values: string[]) => `${field} must be one of ${values.join(', ')}`;

t.test('speech', async (t) => {
  const good = { model: 'sluice/speech', input: 'Hello' };
  for (const [change, message, status = 400] of [
    [{ model: undefined }, 'model is required'],
    [{ model: 7 }, 'model must be a string'],
    [{ model: '' }, 'model must not be empty'],
    [{ input: undefined }, 'input is required'],
    [{ input: null }, 'input must be a string'],
    [{ input: '' }, 'input must not be empty'],
    [{ input: ' \n\t' }, 'input must not be blank'],
    [{ input: ['Hello'] }, 'input must be a string'],
    [{ input: 'x'.repeat(41) }, 'input must have at most 40 characters'],
    [{ input: '🙂'.repeat(41) }, 'input must have at most 40 characters'],
    [{ voice: 'zoe' }, 'voice must be one of ada, ben, design, clone, not "zoe"'],
    [{ voice: 'ADA' }, 'voice must be one of ada, ben, design, clone, not "ADA"'],
    [{ voice: '' }, 'voice must not be empty'],
    [{ voice: 3 }, 'voice must be a string or an object'],
    [{ voice: {} }, 'voice.id is required'],
    [{ voice: { id: 'zoe' } }, 'voice.id must be one of ada, ben, design, clone, not "zoe"'],
    [{ voice: 'design' }, 'instructions is required with voice design: it describes the voice'],
    [
      { voice: 'design', instructions: ' ' },
      'instructions is required with voice design: it describes the voice',
    ],
    [
      { voice: 'design', instructions: 'Old', input_references: [audio()] },
      'input_references is for voice clone only, not for voice design',
    ],
    [
      { voice: 'ada', input_references: [audio()] },
      'input_references is for voice clone only, not for voice ada',
    ],
    [{ voice: 'clone' }, 'input_references must hold an input_audio clip for voice clone'],
    [
      { voice: 'clone', input_references: [] },
      'input_references must hold an input_audio clip for voice clone',
    ],
    [
      { voice: 'clone', input_references: [{ type: 'text', text: 'Hi' }] },
      'input_references must hold an input_audio clip for voice clone',
    ],
    [
      { voice: 'clone', input_references: [audio()], instructions: 'Sad' },
      'instructions is not accepted with voice clone',
    ],
    [
      { input_references: [audio()], provider: { options: { instructions: 'Sad' } } },
      'provider.options.instructions is not accepted with voice clone',
    ],
    [{ input_references: [audio(), audio()] }, 'input_references must hold one input_audio clip only'],
    [{ input_references: [audio(), audio(), audio()] }, 'input_references must have at most 2 items'],
    [{ input_references: audio() }, 'input_references must be an array'],
    [
      { input_references: [audio('https://example.com/a.mp3')] },
      'input_references[0].input_audio.data must be raw base64; URLs are not accepted',
    ],
    [{ input_references: [audio('%%%%')] }, 'input_references[0].input_audio.data is not valid base64'],
    [{ input_references: [audio('')] }, 'input_references[0].input_audio.data is empty'],
    [{ input_references: [audio(9)] }, 'input_references[0].input_audio.data must be a string'],
    [
      { input_references: [{ type: 'text', text: 'Hi' }, audio(Buffer.from('Dear Sir').toString('base64'))] },
      'input_references[1].input_audio.data is not in a format that can be read: its first bytes are not those of one',
    ],
    [
      { input_references: [audio((await tone(121, 'mp3')).toString('base64'))] },
      'input_references[0].input_audio.data is longer than the limit of 120 seconds',
    ],
    [
      { input_references: [audio(Buffer.alloc(25 * 1024 * 1024 + 3).toString('base64'))] },
      'input_references[0].input_audio.data is larger than the limit of 26214400 bytes',
      413,
    ],
    [
      { model: 'sluice/plain', voice: 'design', instructions: 'Old' },
      'voice must be one of ada, not "design"',
    ],
    [
      { model: 'sluice/plain', input_references: [audio()] },
      'input_references is not accepted: model sluice/plain clones no voices',
    ],
    [{ model: 'sluice/mute' }, 'voice is required: model sluice/mute has no default speaker'],
    [{ response_format: 'aac' }, oneOf('response_format', '"mp3"', '"opus"', '"flac"', '"wav"', '"pcm"')],
    [{ response_format: 5 }, oneOf('response_format', '"mp3"', '"opus"', '"flac"', '"wav"', '"pcm"')],
    [{ stream_format: 'events' }, oneOf('stream_format', '"audio"', '"sse"')],
    [{ speed: 0.24 }, 'speed must be between 0.25 and 4'],
    [{ speed: 4.01 }, 'speed must be between 0.25 and 4'],
    [{ speed: '1' }, 'speed must be a number'],
    [{ provider: { options: { speed: 9 } } }, 'provider.options.speed must be between 0.25 and 4'],
    [{ provider: { options: { qwen: { top_k: 1.5 } } } }, 'provider.options.qwen.top_k must be an integer'],
    [{ seed: 1.5 }, 'seed must be an integer'],
    [{ temperature: 2.1 }, 'temperature must be between 0 and 2'],
    [{ temperature: -1 }, 'temperature must be between 0 and 2'],
    [{ top_p: 1.1 }, 'top_p must be between 0 and 1'],
    [{ top_k: -2 }, 'top_k must be between -1 and 2147483647'],
    [
      { language: 'Klingon' },
      'language must be auto, an ISO 639-1 code such as en or a name such as English, not "Klingon"',
    ],
    [{ language: 4 }, 'language must be a string'],
    [{ instructions: {} }, 'instructions must be a string'],
    [{ model: 'nobody/speaks' }, 'No model named "nobody/speaks"', 404],
  ] as const)
    await refused(
      t,
      await post('/audio/speech', { ...good, ...change }),
      status,
      message,
      JSON.stringify(change).slice(0, 60),
    );
  const kind = await post('/audio/speech', { ...good, model: 'sluice/chat' });
  t.equal(kind.status, 404);
  t.match(await kind.json(), { error: { message: /chat/ } }, 'a model of another kind says which it is');
  t.equal((await post('/audio/speech', '{"model":')).status, 400, 'half a body');
});

t.test('every form of a language code is accepted', async (t) => {
  for (const language of someOf(['auto', 'Auto', 'en', 'DE', 'English', 'german', null], 3))
    t.equal(
      (await bytesOf(await post('/audio/speech', { model: 'sluice/speech', input: 'Hi', language }))).length >
        500,
      true,
      String(language),
    );
});

t.test('transcription as JSON', async (t) => {
  const data = clip.toString('base64');
  const good = { model: 'sluice/transcribe', input_audio: { data, format: 'mp3' } };
  const named = (value: unknown) => ({ input_audio: { data: value, format: 'wav' } });
  const encoded = (bytes: Uint8Array) => named(Buffer.from(bytes).toString('base64'));
  const unreadable =
    'input_audio.data cannot be decoded: it is damaged, incomplete or not what it looks like';
  const unknown =
    'input_audio.data is not in a format that can be read: its first bytes are not those of one';
  const format = oneOf('input_audio.format', '"wav"', '"mp3"', '"flac"', '"m4a"', '"ogg"', '"webm"', '"aac"');
  const hours = wave(new Uint8Array(14_410_000), { rate: 1000, bits: 8 });
  for (const [change, message, status = 400] of [
    [{ model: undefined }, 'model is required'],
    [{ model: ['a'] }, 'model must be a string'],
    [{ input_audio: undefined }, 'input_audio is required'],
    [{ input_audio: 'https://example.com/a.mp3' }, 'input_audio must be an object'],
    [{ input_audio: { format: 'mp3' } }, 'input_audio.data is required'],
    [{ input_audio: { data } }, 'input_audio.format is required'],
    [{ input_audio: { data, format: 'mp4' } }, format],
    [{ input_audio: { data, format: 'MP3' } }, format],
    [named(7), 'input_audio.data must be a string'],
    [named(''), 'input_audio.data is empty'],
    [named('ä'), 'input_audio.data is not valid base64'],
    [named('AAAAA'), 'input_audio.data is not valid base64'],
    [named(`data:audio/mp3;base64,${data}`), 'input_audio.data must be raw base64, not a data URI'],
    [
      named(`data:audio/mp3;base64,${'A'.repeat(400_000)}`),
      'input_audio.data must be raw base64, not a data URI',
    ],
    [named('http://example.com/a.mp3'), 'input_audio.data must be raw base64; URLs are not accepted'],
    [named('https://example.com/a.mp3'), 'input_audio.data must be raw base64; URLs are not accepted'],
    [encoded(Buffer.from('Dear Sir or Madam')), unknown],
    [encoded(Buffer.alloc(20_000)), unknown],
    [encoded(wave(new Uint8Array(0))), 'input_audio.data holds neither sound nor pictures'],
    [encoded(wave(new Uint8Array(9000), { rate: 0 })), unreadable],
    [encoded(wave(new Uint8Array(9000), { channels: 65_535 })), unreadable],
    [encoded(clip.subarray(0, 50)), unreadable],
    [encoded(await film(1, false)), 'input_audio.data holds no sound'],
    [encoded(hours), 'input_audio.data is longer than the limit of 14400 seconds'],
    [
      encoded(wave(new Uint8Array(15_000), { rate: 1, bits: 8 })),
      'input_audio.data is longer than the limit of 14400 seconds',
    ],
    [
      encoded(new Uint8Array(25 * 1024 * 1024 + 1)),
      'input_audio.data is larger than the limit of 26214400 bytes',
      413,
    ],
    [{ language: 'english' }, 'language must be an ISO 639-1 code such as en, not "english"'],
    [{ language: 'en-US' }, 'language must be an ISO 639-1 code such as en, not "en-US"'],
    [{ language: 'xx' }, 'language must be an ISO 639-1 code such as en, not "xx"'],
    [{ language: 1 }, 'language must be a string'],
    [{ prompt: ['Sluice'] }, 'prompt must be a string'],
    [{ temperature: 1.01 }, 'temperature must be between 0 and 1'],
    [{ temperature: '0' }, 'temperature must be a number'],
    [{ response_format: 'verbose_json' }, oneOf('response_format', '"json"', '"text"')],
    [{ response_format: 'srt' }, oneOf('response_format', '"json"', '"text"')],
    [{ response_format: 'vtt' }, oneOf('response_format', '"json"', '"text"')],
    [{ stream: 'true' }, 'stream must be true or false'],
    [
      { timestamp_granularities: ['word'] },
      'timestamp_granularities is not supported: transcripts have no timestamps',
    ],
    [
      { timestamp_granularities: [] },
      'timestamp_granularities is not supported: transcripts have no timestamps',
    ],
    [{ prompt: '/sim volume=9' }, 'prompt: unknown /sim directive "volume"'],
    [{ model: 'nobody/hears' }, 'No model named "nobody/hears"', 404],
  ] as const)
    await refused(
      t,
      await post('/audio/transcriptions', { ...good, ...change }),
      status,
      message,
      JSON.stringify(change).slice(0, 60),
    );
  const huge = await post('/audio/transcriptions', `{"model":"${'x'.repeat(49 * 1024 * 1024)}"}`);
  t.equal(huge.status, 413, 'a body beyond every limit');
});

t.test('transcription as a form', async (t) => {
  const file = fileOf(clip, 'a.mp3');
  const base = [
    ['model', 'sluice/transcribe'],
    ['file', file],
  ] as const;
  for (const [fields, message, status = 400] of [
    [[['file', file]], 'model is required'],
    [[['model', 'sluice/transcribe']], 'file is required'],
    [
      [
        ['model', 'sluice/transcribe'],
        ['file', 'https://example.com/a.mp3'],
      ],
      'file must be a file of sound, with a file name; URLs are not accepted',
    ],
    [
      [
        ['model', 'sluice/transcribe'],
        ['file', fileOf(Buffer.alloc(0))],
      ],
      'file is empty',
    ],
    [
      [
        ['model', 'sluice/transcribe'],
        ['file', fileOf(Buffer.from('text'), 'a.mp3')],
      ],
      'file is not in a format that can be read: its first bytes are not those of one',
    ],
    [
      [
        ['model', 'sluice/transcribe'],
        ['file', fileOf(clip.subarray(0, 50))],
      ],
      'file cannot be decoded: it is damaged, incomplete or not what it looks like',
    ],
    [
      [
        ['model', 'sluice/transcribe'],
        ['file', fileOf(Buffer.alloc(25 * 1024 * 1024 + 1))],
      ],
      'file is larger than the limit of 26214400 bytes',
      413,
    ],
    [[...base, ['file', file]], 'file is given more than once'],
    [[...base, ['temperature', 'hot']], 'temperature must be a number'],
    [[...base, ['temperature', '2']], 'temperature must be between 0 and 1'],
    [[...base, ['stream', 'yes']], 'stream must be true or false'],
    [[...base, ['language', 'xx']], 'language must be an ISO 639-1 code such as en, not "xx"'],
    [[...base, ['language', fileOf(clip)]], 'language must be text, not a file'],
    [[...base, ['response_format', 'verbose_json']], oneOf('response_format', '"json"', '"text"')],
    [
      [...base, ['timestamp_granularities[]', 'word']],
      'timestamp_granularities is not supported: transcripts have no timestamps',
    ],
    [
      [
        ['model', 'nobody'],
        ['file', file],
      ],
      'No model named "nobody"',
      404,
    ],
  ] as const)
    await refused(t, await postForm(fields), status, message, fields.map(([name]) => name).join());
});

t.test('bodies of another kind', async (t) => {
  const send = (type: string | undefined, path = '/audio/transcriptions') =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      body: new Uint8Array([1, 2, 3]),
    });
  const either = 'content-type must be application/json or multipart/form-data';
  await refused(t, await send('audio/wav'), 400, `${either}, not "audio/wav"`, 'sound itself');
  await refused(t, await send(undefined), 400, `${either}, but none was sent`, 'no type');
  await refused(
    t,
    await send('multipart/form-data'),
    400,
    'content-type multipart/form-data must name a boundary of 1 to 70 characters',
    'no boundary',
  );
  await refused(
    t,
    await send('multipart/form-data; boundary=x', '/audio/speech'),
    400,
    'content-type must be application/json, not "multipart/form-data; boundary=x"',
    'speech as a form',
  );
});

t.test('keys and methods', async (t) => {
  for (const path of ['/audio/speech', '/audio/transcriptions']) {
    const keyless = await fetch(gateway.url + path, { method: 'POST', body: 'anything' });
    t.equal(keyless.status, 401, 'before the body is read');
    const wrong = await get(path);
    t.equal(wrong.status, 405);
    t.equal(wrong.headers.get('allow'), 'POST, OPTIONS');
  }
  t.same(
    events.filter(({ outcome }) => outcome !== 'completed'),
    events.filter(({ status }) => status === 400),
    'nothing of all this was billed',
  );
});
