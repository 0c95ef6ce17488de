/** Unit tests of the speech and transcription stages: what they emit and what they hold. */
import fc from 'fast-check';
import { concat, type Observable, of, Subject, throwError } from 'rxjs';
import t from 'tap';
import { speechAccount, transcriptionAccount } from '../../pipelines/audio/account.ts';
import { encodeSpeech } from '../../pipelines/audio/encode-speech.ts';
import { frameTranscription } from '../../pipelines/audio/frame-transcription.ts';
import type { SpeechTask } from '../../pipelines/audio/read-speech-request.ts';
import { audioSpeech } from '../../pipelines/audio/speech.ts';
import { audioTranscriptions } from '../../pipelines/audio/transcriptions.ts';
import { count, record, recordValue } from '../../pipelines/core/meter.ts';
import { lift } from '../../pipelines/core/stage.ts';
import { transcriptionWire } from '../../src/engines/wires/openai/transcription.ts';
import { fail } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Codec, Conversion } from '../../src/ports/codec.ts';
import type { Spoken } from '../../src/ports/engines/speech.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { playPieces, type Supply, supplyOf } from '../../src/simulator/play-pieces.ts';
import { Fingerprint, SpeechMemory } from '../../src/simulator/speech/memory.ts';
import { resample } from '../../src/simulator/speech/resample.ts';
import { sayable, speechSentences } from '../../src/simulator/speech/sentences.ts';
import { type Clock, Ticker } from '../../src/simulator/ticker.ts';
import { caller, exchange, harness, lease, model, run, usageLog } from '../chat/fixtures.ts';
import { eventually } from '../eventually.ts';
import { shared } from '../shared.ts';
import { pitch } from './sounds.ts';

const pricing = { prompt: '0', completion: '0.0003' };

const speechTask = (change: Partial<SpeechTask> = {}): SpeechTask => ({
  ...{
    model: { ...model(), pricing },
    format: 'mp3',
    speed: 3,
    sse: false,
    streams: false,
    backpressure: new Backpressure(),
  },
  call: {
    ...{ input: 'Hi', voice: { kind: 'builtin', id: 'ada' }, instructions: undefined, language: undefined },
    ...{ seed: undefined, temperature: undefined, topP: undefined, topK: undefined },
  },
  ...change,
});

const transcriptionTask = (stream: boolean, format: 'json' | 'text' = 'json', seconds = 2) => ({
  model: { ...model(), pricing: { prompt: '0.0001', completion: '0' } },
  call: {
    audio: { bytes: Buffer.alloc(0), container: 'wav', seconds: 1.2 },
    ...{ language: undefined, prompt: undefined, temperature: undefined, stream },
  },
  format,
  seconds,
});

t.test('the seconds of a transcription', async (t) => {
  const started = (onRecord?: UsageLog['record']) => {
    const { events, usage } = usageLog(onRecord);
    const task = { ...transcriptionTask(false, 'json', 7), model: { ...model(), pricing } };
    const billed = { exchange: exchange(), caller, task, lease: lease(3) };
    const admitted = { ...billed, account: transcriptionAccount(billed) };
    const source = new Subject<{ text: string }>();
    const seen: string[] = [];
    const subscription = source
      .pipe(lift(count<{ text: string }>(), admitted), lift(recordValue<{ text: string }>(usage), admitted))
      .subscribe({
        next: ({ text }) => seen.push(text),
        error: (error: Error) => seen.push(error.message),
        complete: () => seen.push('end'),
      });
    return { events, source, seen, subscription };
  };
  const kept = new Subject<void>();
  const slow = started(() => kept);
  slow.source.next({ text: 'a' });
  slow.source.complete();
  t.same(slow.seen, [], 'the last part waits for the event');
  t.match(slow.events, [
    {
      ...{ outcome: 'completed', route: '/audio/transcriptions', quantities: { seconds: '7' } },
      ...{ cost: '0.0021', queued_ms: 3, first_token_ms: Number },
    },
  ]);
  kept.complete();
  t.same(slow.seen, ['a', 'end']);
  slow.subscription.unsubscribe();
  t.equal(slow.events.length, 1);

  const silent = started();
  silent.source.complete();
  t.match(silent.events, [{ outcome: 'completed', cost: '0.0021' }], 'an empty answer is an answer');
  const failed = started(() => throwError(() => fail('unavailable', 'disk full')));
  failed.source.next({ text: 'a' });
  failed.source.error(fail('timeout', 'too slow'));
  t.same(failed.seen, ['too slow'], 'a failure is told as it was');
  t.match(failed.events, [{ outcome: 'failed', status: 504, cost: '0' }]);
  const left = started();
  left.subscription.unsubscribe();
  t.notOk(left.source.observed);
  t.match(left.events, [{ outcome: 'cancelled', cost: '0' }]);
});

t.test('the seconds of speech', async (t) => {
  const billed = { exchange: exchange(), caller, task: speechTask(), lease: lease(3) };
  const account = speechAccount(billed);
  account.add({ samples: Buffer.alloc(48_000) });
  t.match(account.event('cancelled', 499), {
    ...{ route: '/audio/speech', quantities: { seconds: '1' }, cost: '0.0003', first_token_ms: null },
  });
  account.add({ samples: Buffer.alloc(2) });
  t.equal(account.seconds, 2, 'rounded up');
  account.add(Buffer.alloc(1_000_000));
  t.match(
    account.event('completed', 200),
    { quantities: { seconds: '2' }, cost: '0.0006', first_token_ms: Number },
    'encoded bytes are not counted, but there is a first of them',
  );
});

const notUsed = () => Promise.reject(new Error('not used here'));

t.test('encodeSpeech', async (t) => {
  const started = (change: Partial<SpeechTask> = {}) => {
    const conversions: { input: string; conversion: Conversion }[] = [];
    const file = new Subject<Buffer>();
    const codec: Codec = {
      probe: notUsed,
      verify: notUsed,
      spool: notUsed,
      close: async () => undefined,
      convert: (input, conversion) => {
        conversions.push({
          input: input instanceof Uint8Array ? Buffer.from(input).toString() : '',
          conversion,
        });
        return file;
      },
    };
    const source = new Subject<Spoken>();
    const seen: string[] = [];
    const subscription = source
      .pipe(lift(encodeSpeech(shared(codec)), { exchange: exchange(), caller, task: speechTask(change) }))
      .subscribe({
        next: (bytes) => seen.push(String(bytes)),
        error: (error: Error) => seen.push(error.message),
        complete: () => seen.push('end'),
      });
    return { conversions, file, source, seen, subscription };
  };
  const whole = started();
  whole.source.next({ samples: Buffer.from('ab'), comment: 'said' });
  whole.source.next({ samples: Buffer.from('cd') });
  t.same(whole.conversions, [], 'no process stands idle while an engine speaks');
  whole.source.complete();
  t.match(whole.conversions, [{ input: 'abcd', conversion: { comment: 'said', seekableOutput: true } }]);
  t.ok(whole.conversions[0]?.conversion.arguments.includes('atempo=2,atempo=1.5'));
  whole.file.next(Buffer.from('file'));
  whole.file.complete();
  t.same(whole.seen, ['file', 'end']);

  const streamed = started({ streams: true, format: 'pcm', speed: 1 });
  streamed.source.next({ samples: Buffer.from('ab') });
  t.same(streamed.seen, ['ab'], 'samples that are wanted pass by');
  const broken = started();
  broken.source.next({ samples: Buffer.from('ab') });
  broken.source.error(fail('timeout', 'too slow'));
  t.same(broken.seen, ['too slow']);
  t.same(broken.conversions, []);
  const gone = started();
  gone.source.next({ samples: Buffer.from('ab') });
  gone.source.complete();
  gone.subscription.unsubscribe();
  t.notOk(gone.file.observed, 'the process is left with the client');
});

t.test('frameTranscription', async (t) => {
  const framed = (source: Observable<{ text: string }>, stream: boolean) => {
    const seen: unknown[] = [];
    const billed = { exchange: exchange(), caller, task: transcriptionTask(stream), lease: lease() };
    const context = { ...billed, account: transcriptionAccount(billed) };
    source.pipe(lift(frameTranscription, context), lift(record(usageLog().usage), context)).subscribe({
      next: (reply) => seen.push(reply.kind === 'bytes' ? String(reply.bytes).split('\n')[0] : reply.kind),
      error: (error: Error) => seen.push(error.message),
      complete: () => seen.push('end'),
    });
    return seen;
  };
  t.same(framed(of({ text: 'a' }, { text: 'b' }), false), ['whole', 'end']);
  t.same(
    framed(
      throwError(() => fail('timeout', 'late')),
      true,
    ),
    ['late'],
    'nothing was sent: a status can tell',
  );
  t.same(framed(of(), true), ['head', 'event: transcript.text.done', 'end']);
  const source = new Subject<{ text: string }>();
  const seen = framed(source, true);
  source.next({ text: 'a' });
  source.error(fail('timeout', 'late'));
  t.same(seen, ['head', 'event: transcript.text.delta', 'event: transcript.text.error', 'end']);
});

t.test('a stage that throws', async (t) => {
  /** The route's replies, where the engine sends `first` and then a part that cannot be read. */
  const broken = (operation: 'speak' | 'transcribe', first: readonly object[], body: object) => {
    const boom = (): never => {
      throw new Error('boom');
    };
    const bad = Object.defineProperties({}, { samples: { get: boom }, text: { get: boom } });
    const parts = concat(of(...first, bad), new Subject<never>());
    const voiced = { model: model({ voices: ['ada'] }), variant: undefined };
    const { ports, leases, events } = harness(undefined, {
      catalog: { ...harness().ports.catalog, resolve: () => voiced },
      engines: { of: () => ({ [operation]: () => parts }), health: () => ({}), close: async () => undefined },
      codec: shared<Codec>({
        probe: async () => ({ container: 'wav', hasVideo: false, hasAudio: true, seconds: 1 }),
        verify: notUsed,
        spool: notUsed,
        convert: () => throwError(() => new Error('not used here')),
        close: async () => undefined,
      }),
    });
    const pipeline = operation === 'speak' ? audioSpeech(ports) : audioTranscriptions(ports);
    const seen: unknown[] = [];
    run(pipeline, exchange(body)).subscribe({
      next: (reply) => seen.push(reply.kind === 'bytes' ? String(reply.bytes).split('\n')[0] : reply.kind),
      error: (error: Error) => seen.push(error.message),
      complete: () => seen.push('end'),
    });
    return async (expected: readonly unknown[], message: string) => {
      await eventually(() => leases[0]?.released === 1, 'the lease to be returned');
      t.same(seen, expected, message);
      t.match(events, [{ outcome: 'failed', status: 500, cost: '0' }]);
      t.equal(events.length, 1);
    };
  };
  const pcm = { model: 'mock/voice', input: 'Hi', voice: 'ada', response_format: 'pcm' };
  const sse = { ...pcm, stream_format: 'sse' };
  const samples = { samples: Buffer.alloc(4) };
  await broken('speak', [], sse)(['boom'], 'before the first byte it is the response');
  await broken('speak', [], pcm)(['boom'], 'of samples too');
  await broken('speak', [samples], pcm)(['head', '\0\0\0\0', 'boom'], 'samples are cut');
  await broken(
    'speak',
    [samples],
    sse,
  )(['head', 'event: speech.audio.delta', 'event: speech.audio.error', 'end'], 'after it, it is an event');
  const recording = { model: 'mock/chat', input_audio: { data: 'AAAA', format: 'wav' } };
  await broken('transcribe', [{ text: 'a' }], recording)(['boom'], 'a whole transcript fails whole');
  await broken('transcribe', [], { ...recording, stream: true })(['boom'], 'before the first piece');
  await broken('transcribe', [{ text: 'a' }], { ...recording, stream: true })(
    ['head', 'event: transcript.text.delta', 'event: transcript.text.error', 'end'],
    'after the first piece',
  );
});

t.test('transcripts, cut at every byte', async (t) => {
  const text = 'Grüße, 世界 🙂';
  const events = [...text].map((delta) => JSON.stringify({ type: 'transcript.text.delta', delta }));
  const done = JSON.stringify({ type: 'transcript.text.done', text });
  const bytes = Buffer.from([...events, done].map((data) => `event: x\r\ndata: ${data}\r\n\r\n`).join(''));
  for (let cut = 0; cut <= bytes.length; cut++) {
    const decoder = transcriptionWire.decodeStream();
    const found = decoder.push(bytes.subarray(0, cut)) + decoder.push(bytes.subarray(cut)) + decoder.end();
    if (found !== text || !decoder.done) t.fail(`cut at ${cut}: ${found}`);
  }
  t.pass(`${bytes.length} cuts`);
});

t.test('playPieces', async (t) => {
  const clockOf = () => {
    let now = 0;
    let next: { at: number; call: () => void } | undefined;
    const clock: Clock = {
      now: () => now,
      after: (milliseconds, call) => {
        const own = { at: now + milliseconds, call };
        next = own;
        return () => {
          if (next === own) next = undefined;
        };
      },
    };
    const pass = (milliseconds: number): void => {
      const until = now + milliseconds;
      for (let turns = 0; turns < 1000 && next !== undefined && next.at <= until; turns++) {
        const { at, call } = next;
        next = undefined;
        now = Math.max(now, at);
        call();
      }
      now = until;
    };
    return { clock, pass };
  };
  const played = (supply: Supply<string>, wishes: object) => {
    const { clock, pass } = clockOf();
    const seen: string[] = [];
    const backpressure = new Backpressure();
    const subscription = playPieces(
      () => supply,
      { faults: [], ...wishes },
      new Ticker(clock),
      backpressure,
    ).subscribe({
      next: (piece) => seen.push(piece),
      error: (error: Error) => seen.push(error.message),
      complete: () => seen.push('end'),
    });
    return { seen, pass, backpressure, subscription };
  };
  const even = played(supplyOf('abcd'), { rate: 10, first: 1000 });
  even.pass(999);
  t.same(even.seen, []);
  even.pass(250);
  t.equal(even.seen.join(''), 'abc');
  even.backpressure.pause();
  even.pass(10_000);
  t.equal(even.seen.join(''), 'abc', 'nothing while nobody reads');
  even.backpressure.resume();
  even.pass(300);
  t.equal(even.seen.join(''), 'abcdend');
  const faulty = played(supplyOf('abcd'), {
    faults: [
      { type: 'stall', after: 1, milliseconds: 500 },
      { type: 'fail', after: 3, kind: 'unavailable', status: 503 },
    ],
  });
  faulty.pass(100);
  t.same(faulty.seen, ['a']);
  faulty.pass(1000);
  t.same(faulty.seen, ['a', 'b', 'c', 'Simulated failure 503']);
  const short = played(supplyOf('a'), { faults: [{ type: 'end', after: 9 }] });
  short.pass(100);
  t.same(short.seen, ['a', 'The engine ended its answer early'], 'at the end of a shorter answer');
  let stopped = 0;
  const waiting = played({ take: () => undefined, done: false, stop: () => stopped++ }, {});
  waiting.pass(100);
  waiting.subscription.unsubscribe();
  t.equal(stopped, 1, 'who makes the pieces hears of it');
});

t.test('error messages', async (t) => {
  t.same(speechSentences('One. Two!\nThree'), ['One.', 'Two!', 'Three']);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 2000 }), async (text) => {
      const pieces = speechSentences(text);
      return pieces.every(
        (piece) => piece.length <= 300 && piece !== '' && /^[\x20-\x7e]*$/.test(sayable(piece)),
      );
    }),
    { numRuns: 100, seed: 5 },
  );
});

t.test('resampling keeps the pitch', async (t) => {
  for (const [from, to] of [
    [16_000, 24_000],
    [8000, 24_000],
    [48_000, 24_000],
  ] as const) {
    const tone = Int16Array.from(
      { length: from },
      (_, at) => 9000 * Math.sin((2 * Math.PI * 440 * at) / from),
    );
    const other = resample(tone, from, to);
    t.equal(other.length, to);
    t.ok(Math.abs(pitch(other) - 440) < 5, `${from} to ${to}`);
  }
});

t.test('a fingerprint does not depend on how the samples were cut', async (t) => {
  const sound = Buffer.alloc(60_000);
  for (let at = 0; at < 30_000; at++)
    sound.writeInt16LE(Math.round(9000 * Math.sin(at / 9) * Math.abs(Math.sin(at / 2500))), at * 2);
  const memory = new SpeechMemory();
  const whole = new Fingerprint();
  whole.add(sound);
  memory.remember('waves', whole);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9999 }), { maxLength: 30 }), async (cuts) => {
      const pieces = new Fingerprint();
      let at = 0;
      for (const cut of cuts) {
        pieces.add(sound.subarray(at, at + cut));
        at += cut;
      }
      pieces.add(sound.subarray(at));
      return memory.recall(pieces) === 'waves';
    }),
    { numRuns: 50, seed: 3 },
  );
  const silence = new Fingerprint();
  silence.add(Buffer.alloc(60_000));
  t.equal(memory.recall(silence), undefined);
});
