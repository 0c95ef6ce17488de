/** The Codec port on ffmpeg: probes and converts audio and video in separate processes. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Observable } from 'rxjs';
import { fail } from '../errors.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Codec, Conversion, MediaFile } from '../ports/codec.ts';
import { ownWork, type Shared, type Turn } from '../ports/shared.ts';
import { countingArguments, FrameLines, readFacts } from './facts.ts';
import { fileEnd } from './file-end.ts';
import { detectedInput, type InputSource, namedInput, needsFile, type OpenInput } from './input.ts';
import { ProcessFailure, readOutputFile, runProcess } from './process.ts';
import { type RunContext, Runner, type RunnerOptions } from './runner.ts';
import { SpooledFile, spoolTo } from './spooled-file.ts';

interface CodecOptions extends RunnerOptions {
  readonly probeTimeoutMs?: number;
  readonly verifyTimeoutMs?: number;
  /** A longer file is counted up to here. */
  readonly maxProbeSeconds?: number;
  /** Bytes of a streamed input that are kept on disk. */
  readonly maxSpoolBytes?: number;
}

const mebibyte = 1024 * 1024;
const common = [
  ...['-hide_banner', '-nostdin', '-nostats'],
  ...['-max_alloc', String(512 * mebibyte), '-threads', '1'],
];
/** Five hours of sixty pictures a second print less than this. */
const maxProgressBytes = 256 * mebibyte;

/** No process runs before the first call. */
export const createCodec = (options: CodecOptions = {}): Codec & Shared<Codec> => {
  const runner = new Runner(options);
  const { maxSpoolBytes = 512 * mebibyte, maxProbeSeconds = 5 * 3600 } = options;
  const { probeTimeoutMs = 60_000, verifyTimeoutMs = 300_000 } = options;

  const open = (
    source: InputSource,
    { inputArguments, inputBackpressure }: Pick<Conversion, 'inputArguments' | 'inputBackpressure'>,
    { folder, signal }: RunContext,
  ): Promise<OpenInput> | OpenInput =>
    source === undefined || (inputArguments !== undefined && !(source instanceof SpooledFile))
      ? namedInput(source, inputArguments ?? [])
      : detectedInput(source, folder, { signal, inputBackpressure, maxSpoolBytes });

  /** Reads all of it; `options` are of the decoder. */
  const count = async (
    source: Uint8Array | SpooledFile,
    context: RunContext,
    reading: { readonly options: (container: string) => readonly string[]; readonly timeoutMs: number },
  ) => {
    const { arguments: named, file, bytes, container = '' } = await open(source, {}, context);
    const counting = countingArguments(maxProbeSeconds);
    const lines = new FrameLines();
    const task = {
      arguments: [...common, ...reading.options(container), ...named, ...counting, '-'],
      files: { input: file, output: undefined },
      input: bytes,
      inputBackpressure: undefined,
      backpressure: new Backpressure(),
      maxBytes: maxProgressBytes,
      timeoutMs: reading.timeoutMs,
    };
    const log = await runProcess(context, task, (text) => lines.add(text));
    const found = readFacts(container, log, lines);
    if (found === undefined) throw fail('invalid_request', 'holds neither sound nor pictures');
    return { ...found, log };
  };

  const runCounting = <T>(
    source: Uint8Array | SpooledFile,
    turn: Turn,
    work: (context: RunContext) => Promise<T>,
  ): Promise<T> =>
    runner.run({ ...turn, streams: false, needsFolder: needsFile(source) }, work).catch((error: unknown) => {
      // A second attempt would take as long: not an error to retry.
      if (error instanceof ProcessFailure && error.reason === 'time')
        throw fail('invalid_request', 'takes too long to read', { cause: error });
      throw explained(error, true);
    });

  const codecFor = (subscription: string): Codec => ({
    // All pictures are counted, but only key frames decoded.
    probe: (bytes, signal = new AbortController().signal) =>
      runCounting(bytes, { subscription, signal }, async (context) => {
        const reading = { options: keyFramesOnly, timeoutMs: probeTimeoutMs };
        const counted = count(bytes, context, reading).catch((error: unknown) => {
          if (!(error instanceof ProcessFailure && hasNoPictures.test(error.message))) throw error;
          return count(bytes, context, { ...reading, options: () => [] });
        });
        return (await counted).facts;
      }),

    verify: (media, signal = new AbortController().signal) => {
      const file = spooled(media);
      return runCounting(file, { subscription, signal }, async (context) => {
        const reading = { options: exitOnError, timeoutMs: verifyTimeoutMs };
        const { facts, log, ...seconds } = await count(file, context, reading);
        const end = await fileEnd(facts.container, file, log, seconds);
        if (end === 'cut') throw fail('invalid_request', 'is incomplete: it ends before its own end');
        return { ...facts, openEnded: end === 'open' };
      });
    },

    spool: async (source, spooling) => {
      const folder = await runner.createFolder();
      try {
        return await spoolTo(source, join(folder, 'media'), spooling);
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
    },

    convert: (input, conversion, backpressure) =>
      new Observable((subscriber) => {
        const source = isFile(input) ? spooled(input) : input;
        const { seekableOutput = false, inputBackpressure, maxBytes, timeoutMs } = conversion;
        const unsubscribed = new AbortController();
        const receive = (bytes: Buffer) => subscriber.next(bytes);
        const work = async (context: RunContext) => {
          const opened = await open(source, conversion, context);
          const target = join(context.folder, 'output');
          const task = {
            arguments: [
              ...[...common, '-loglevel', 'error', ...opened.arguments],
              ...['-filter_threads', '1', '-threads', '1', ...commentArguments(conversion)],
              ...conversion.arguments,
              ...(seekableOutput ? ['-fs', String(maxBytes + 1), `file:${target}`] : ['pipe:1']),
            ],
            files: { input: opened.file, output: seekableOutput ? target : undefined },
            input: opened.bytes,
            inputBackpressure,
            backpressure: seekableOutput ? new Backpressure() : backpressure,
            maxBytes,
            timeoutMs,
          };
          await runProcess(context, task, receive);
          if (seekableOutput)
            await readOutputFile(target, { maxBytes, backpressure, signal: context.signal }, receive);
        };
        const spools = source !== undefined && conversion.inputArguments === undefined && needsFile(source);
        const request = {
          subscription,
          streams: source instanceof Observable,
          needsFolder: spools || seekableOutput,
          signal: unsubscribed.signal,
        };
        runner.run(request, work).then(
          () => subscriber.complete(),
          (error: unknown) => subscriber.error(explained(error, source !== undefined)),
        );
        return () => unsubscribed.abort();
      }),

    close: () => runner.close(),
  });
  return {
    ...codecFor(ownWork),
    for: codecFor,
    stats: () => {
      const { runs, streams } = runner.stats();
      return { codec: runs, codec_streams: streams };
    },
  };
};

/** Containers of sound alone. */
const soundOnly = new Set(['wav', 'mp3', 'flac', 'ogg', 'aac', 'm4a']);

const keyFramesOnly = (container: string): readonly string[] =>
  soundOnly.has(container) ? [] : ['-skip_frame', 'nokey'];

/** Since version 7 an option for pictures is an error in a file that has none. */
const hasNoPictures = /Codec AVOption skip_frame .* is not a decoding option/;

/** A sample cannot be wrong, and the header of a stream says more of them than come. */
const exitOnError = (container: string): readonly string[] => (container === 'wav' ? [] : ['-xerror']);

const isFile = (input: Parameters<Codec['convert']>[0]): input is MediaFile =>
  input !== undefined && !(input instanceof Observable) && !(input instanceof Uint8Array);

/** There are no others. */
const spooled = (file: MediaFile): SpooledFile => {
  if (file instanceof SpooledFile) return file;
  throw new TypeError('The file was not spooled by the codec');
};

/** The system bounds an argument, and ends it at a zero. */
const longestComment = 32 * 1024;

const commentArguments = ({ comment }: Conversion): readonly string[] =>
  comment === undefined
    ? []
    : ['-metadata', `comment=${comment.slice(0, longestComment).replaceAll('\0', '')}`];

/** A process that fails was given bad input; without input the fault is ours. */
const explained = (error: unknown, isInput: boolean): unknown => {
  if (!(error instanceof ProcessFailure)) return error;
  switch (error.reason) {
    case 'exit':
      return isInput
        ? fail('invalid_request', 'cannot be decoded: it is damaged, incomplete or not what it looks like', {
            cause: error,
          })
        : error;
    case 'time':
      return fail('unavailable', 'takes too long to convert', { cause: error });
    case 'bytes':
      return fail('invalid_request', 'becomes too large when it is converted', { cause: error });
    case 'start':
      return error;
  }
};
