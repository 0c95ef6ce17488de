/** Tests speech and transcription through openai, @openrouter/sdk and the AI SDK. */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenRouter } from '@openrouter/sdk';
import { experimental_generateSpeech as generateSpeech, experimental_transcribe as transcribe } from 'ai';
import OpenAI, { toFile } from 'openai';
import t from 'tap';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';
import { thrownBy } from '../thrown-by.ts';
import { codec, loudness, samplesOf, tone, wave } from './sounds.ts';

const gateway = await startGateway();
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const speech = 'sluice/speech';
const transcription = 'sluice/transcribe';
const input = 'Every client says and hears the same.';

t.test('openai', async (t) => {
  const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  const said = await client.audio.speech.create({ model: speech, voice: 'ben', input });
  const mp3 = Buffer.from(await said.arrayBuffer());
  t.match(await codec.probe(mp3), { container: 'mp3', channels: 1, sampleRate: 24_000 });
  t.ok(loudness(await samplesOf(mp3)) > 0.02);
  t.equal(said.headers.get('x-usage-seconds'), '3');

  const file = () => toFile(mp3, 'speech.mp3');
  const heard = await client.audio.transcriptions.create({ model: transcription, file: await file() });
  t.same(heard, { text: input, usage: { type: 'duration', seconds: 3, cost: 0.0003 } });
  const all = await client.audio.transcriptions.create({
    ...{ model: transcription, file: await file(), language: 'en', prompt: 'Sluice', temperature: 0.1 },
    ...{ response_format: 'text' as const },
  });
  t.equal(all as unknown, input);

  const stream = await client.audio.transcriptions.create({
    model: transcription,
    file: await file(),
    stream: true,
  });
  let text = '';
  const types = new Set<string>();
  for await (const event of stream) {
    types.add(event.type);
    if (event.type === 'transcript.text.delta') text += event.delta;
    if (event.type === 'transcript.text.done') t.equal(event.text, input);
  }
  t.equal(text, input);
  t.same([...types], ['transcript.text.delta', 'transcript.text.done']);

  const broken = await client.audio.transcriptions.create({
    ...{ model: transcription, file: await file(), stream: true as const, prompt: '/sim fail=503@2' },
  });
  const failure = await thrownBy(
    (async () => {
      for await (const _ of broken);
    })(),
  );
  t.match(failure, { constructor: OpenAI.APIError, message: /Simulated failure 503/ });

  const refused = await thrownBy(client.audio.speech.create({ model: speech, voice: 'nobody', input }));
  t.match(refused, { status: 400, message: /voice must be one of/ });
  const undecodable = await thrownBy(
    client.audio.transcriptions.create({
      model: transcription,
      file: await toFile(Buffer.from('text'), 'a.mp3'),
    }),
  );
  t.match(undecodable, { status: 400, message: /file is not in a format/ });
  const events = await client.audio.speech.create({
    model: speech,
    voice: 'ada',
    input,
    response_format: 'pcm',
    stream_format: 'sse',
  });
  t.match(await events.text(), /event: speech\.audio\.done/);
});

t.test('@openrouter/sdk', { skip: onlyLong }, async (t) => {
  const client = new OpenRouter({
    serverURL: gateway.url,
    apiKey: gateway.key,
    retryConfig: { strategy: 'none' },
  });
  const stream = await client.tts.createSpeech({ speechRequest: { model: speech, input, voice: 'ada' } });
  const pcm = Buffer.from(await new Response(stream).arrayBuffer());
  t.ok(loudness(await samplesOf(wave(pcm))) > 0.02, 'samples unless told');
  const fast = await client.tts.createSpeech({
    speechRequest: {
      model: speech,
      input,
      responseFormat: 'mp3',
      speed: 2,
      provider: { options: { openai: { seed: 3 } } },
    },
  });
  const mp3 = Buffer.from(await new Response(fast).arrayBuffer());
  t.ok(Math.abs((await codec.probe(mp3)).seconds - pcm.length / 96_000) < 0.2);
  const cloned = await client.tts.createSpeech({
    speechRequest: {
      ...{ model: speech, input, responseFormat: 'mp3' },
      inputReferences: [
        {
          type: 'input_audio',
          inputAudio: { data: (await tone(2, 'mp3')).toString('base64'), format: 'mp3' },
        },
        { type: 'text', text: 'Beep' },
      ],
    },
  });
  t.match(await codec.probe(Buffer.from(await new Response(cloned).arrayBuffer())), { container: 'mp3' });

  const heard = await client.stt.createTranscription({
    sttRequest: { model: transcription, inputAudio: { data: wave(pcm).toString('base64'), format: 'wav' } },
  });
  t.match(heard, { text: input, usage: { seconds: Math.ceil(pcm.length / 48_000) } });
  const form = await client.stt.createTranscriptionMultipart({
    requestBody: {
      ...{ model: transcription, language: 'en', temperature: 0, sessionId: 's', user: 'u', trace: '{}' },
      file: { fileName: 'speech.wav', content: wave(pcm) },
    },
  });
  t.equal(form.text, input);
  const refused = await thrownBy(
    client.stt.createTranscription({
      sttRequest: { model: transcription, inputAudio: { data: 'AAAA', format: 'wav' } },
    }),
  );
  t.match(refused, { statusCode: 400, message: /input_audio\.data is not in a format/ });
});

t.test('AI SDK', async (t) => {
  const provider = createOpenAI({ baseURL: gateway.url, apiKey: gateway.key });
  const { audio } = await generateSpeech({
    model: provider.speech(speech),
    text: input,
    voice: 'cleo',
    maxRetries: 0,
  });
  const mp3 = Buffer.from(audio.uint8Array);
  t.match(await codec.probe(mp3), { container: 'mp3', channels: 1 });
  const wav = await generateSpeech({
    model: provider.speech(speech),
    text: input,
    voice: 'dan',
    outputFormat: 'wav',
    speed: 1.5,
    maxRetries: 0,
  });
  t.match(await codec.probe(Buffer.from(wav.audio.uint8Array)), { container: 'wav' });
  const heard = await transcribe({ model: provider.transcription(transcription), audio: mp3, maxRetries: 0 });
  t.equal(heard.text, input);
  const refused = await thrownBy(
    transcribe({ model: provider.transcription('nobody'), audio: mp3, maxRetries: 0 }),
  );
  t.match(refused, { statusCode: 404 });
});
