/** Checks servers of speech and of transcription, with synthetic speech as the recording. */
import { lastValueFrom, tap, toArray } from 'rxjs';
import { wavHeader } from '../music/wav.ts';
import { Backpressure } from '../ports/backpressure.ts';
import { type SpeechCall, sampleBytes, speechRate } from '../ports/engines/speech.ts';
import type { TranscriptionCall } from '../ports/engines/transcription.ts';
import { createSimulator } from '../simulator/simulator.ts';
import { checkBadRequest, checkDisconnect } from './every-kind.ts';
import { attempt, type Finding, Note } from './finding.ts';
import type { Target } from './target.ts';

const sentence = 'The gates of the lock are open, and the ships go through one by one.';

const speechCall = (input: string, voice: string): SpeechCall => ({
  input,
  voice: { kind: 'builtin', id: voice },
  instructions: undefined,
  language: undefined,
  seed: undefined,
  temperature: undefined,
  topP: undefined,
  topK: undefined,
});

// ── speech ─────────────────────────────────────────────────────────────────────────────────────────

export async function* checkSpeech(target: Target): AsyncGenerator<Finding> {
  const { model, wire } = target;
  const [voice = ''] = model.voices ?? [];
  const { engine_format: format = 'pcm', engine_rate: rate = speechRate } = model.capabilities?.speech ?? {};
  const call = speechCall(sentence, voice);
  const times: number[] = [];
  yield await attempt('format', async () => {
    if (wire.speech === undefined) throw new Error(`The wire ${target.row.wire} has no speech`);
    const { path, ...sent } = wire.speech.encode(model, call);
    const { status, contentType, body } = await target.server.send('POST', path, sent);
    if (status >= 300) throw new Error(`The server answered ${status}: ${body.toString('utf8', 0, 300)}`);
    const found = formatOf(contentType, body);
    if (found === 'text')
      throw new Error(`${format} was requested, text came: ${body.toString('utf8', 0, 60).trim()}`);
    if (found !== undefined && found !== format)
      throw new Note(
        `${format} was requested, ${found} came; with capabilities.speech.engine_format ${found} the gateway expects it`,
      );
    return `${format}, content-type ${contentType || 'missing'}`;
  });
  yield await attempt('speech', async () => {
    const begun = Date.now();
    const pieces = await target.call((engine, flow) =>
      engine.speak?.(model, call, flow).pipe(tap(() => times.push(Date.now() - begun))),
    );
    const samples = Buffer.concat(pieces.map((piece) => piece.samples));
    const seconds = samples.length / sampleBytes / speechRate;
    const loudest = peakOf(samples);
    if (loudest < 50) throw new Error(`${seconds.toFixed(1)} s of silence`);
    if (seconds < 1 || seconds > 30)
      throw new Note(
        `${seconds.toFixed(1)} s for a sentence of fifteen words: is ${rate} the sample rate of the model? (capabilities.speech.engine_rate)`,
      );
    return `${seconds.toFixed(1)} s, the first sample after ${times[0]} ms, the last after ${times.at(-1)} ms`;
  });
  if (wire.speech === undefined) return;
  yield await checkBadRequest(target, wire.speech.encode(model, call));
  if (format !== 'pcm') return;
  yield await checkDisconnect(
    target,
    wire.speech.encode(model, speechCall(`${sentence} `.repeat(20), voice)),
  );
}

/** By the first bytes, or the content type; undefined where neither tells. */
const formatOf = (contentType: string, body: Buffer): string | undefined => {
  const head = body.toString('latin1', 0, 12);
  if (/^(?:text\/|application\/json)/i.test(contentType)) return 'text';
  if (head.startsWith('RIFF')) return 'wav';
  if (head.startsWith('fLaC')) return 'flac';
  if (head.startsWith('OggS')) return 'opus';
  if (head.startsWith('ID3')) return 'mp3';
  return undefined;
};

const peakOf = (samples: Buffer): number => {
  let peak = 0;
  for (let at = 0; at + 1 < samples.length; at += 2) peak = Math.max(peak, Math.abs(samples.readInt16LE(at)));
  return peak;
};

// ── transcription ──────────────────────────────────────────────────────────────────────────────────

export async function* checkTranscription(target: Target): AsyncGenerator<Finding> {
  const audio = await recording();
  const callOf = (stream: boolean): TranscriptionCall => ({
    audio,
    language: 'en',
    prompt: undefined,
    temperature: undefined,
    stream,
  });
  const transcribe = (stream: boolean) =>
    target.call((engine, flow) => engine.transcribe?.(target.model, callOf(stream), flow));
  yield await attempt('whole text', async () => textOf((await transcribe(false)).map((piece) => piece.text)));
  if (target.wire.transcription === undefined) return;
  if (target.model.capabilities?.transcription?.streams !== false)
    yield await attempt('events', async () => {
      const { path, ...sent } =
        target.wire.transcription?.encode(target.model, callOf(true), true) ?? nothing;
      const { contentType } = await target.server.send('POST', path, sent);
      const text = textOf((await transcribe(true)).map((piece) => piece.text));
      if (contentType.startsWith('application/json'))
        throw new Note(
          'Whole JSON came where events were requested: set capabilities.transcription.streams to false',
        );
      return text;
    });
  yield await checkBadRequest(target, target.wire.transcription.encode(target.model, callOf(false), false));
}

const nothing = { path: '', body: '' };

/** Empty is allowed: some models do not hear words in synthetic speech. */
const textOf = (pieces: readonly string[]): string => {
  const text = pieces.join('').trim();
  if (text === '') throw new Note('The text of a spoken sentence is empty');
  return `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`;
};

/** A sentence of the simulator's own voice, as WAV. */
const recording = async () => {
  const flow = { requestId: '', subscription: '', backpressure: new Backpressure() };
  const { speak } = createSimulator();
  if (speak === undefined) throw new Error('The simulator does not speak');
  const spoken = speak({} as never, speechCall(sentence, 'ada'), flow);
  const samples = Buffer.concat((await lastValueFrom(spoken.pipe(toArray()))).map((piece) => piece.samples));
  const header = wavHeader({ sampleRate: speechRate, channels: 1, dataBytes: samples.length });
  const seconds = samples.length / sampleBytes / speechRate;
  return { bytes: Buffer.concat([header, samples]), container: 'wav', seconds };
};
