/** The Codec port on ffmpeg: probes and converts audio and video in separate processes. */
import { join } from 'node:path';
import { Observable } from 'rxjs';
import { fail } from '../errors.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Codec, Conversion } from '../ports/codec.ts';
import { countingArguments, readFacts } from './facts.ts';
import { detectedInput, type InputSource, namedInput, needsFile, type OpenInput } from './input.ts';
import { ProcessFailure, readOutputFile, runProcess } from './process.ts';
import { type RunContext, Runner, type RunnerOptions } from './runner.ts';

interface CodecOptions extends RunnerOptions {
  readonly probeTimeoutMs?: number;
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
/** Five hours of counting print less than this. */
const maxProgressBytes = 4 * mebibyte;
/** Enough for the last report. */
const progressTail = 2048;

/** No process runs before the first call. */
export const createCodec = (options: CodecOptions = {}): Codec => {
  const runner = new Runner(options);
  const { maxSpoolBytes = 512 * mebibyte, probeTimeoutMs = 60_000, maxProbeSeconds = 5 * 3600 } = options;

  const open = (
    source: InputSource,
    { inputArguments, inputBackpressure }: Pick<Conversion, 'inputArguments' | 'inputBackpressure'>,
    { folder, signal }: RunContext,
  ): Promise<OpenInput> | OpenInput =>
    source === undefined || inputArguments !== undefined
      ? namedInput(source, inputArguments ?? [])
      : detectedInput(source, folder, { signal, inputBackpressure, maxSpoolBytes });

  return {
    probe: async (bytes, signal = new AbortController().signal) => {
      const work = async (context: RunContext) => {
        const input = await open(bytes, {}, context);
        const counting = countingArguments(maxProbeSeconds);
        let progress = '';
        const task = {
          // All pictures are counted, but only key frames decoded.
          arguments: [...common, '-skip_frame', 'nokey', ...input.arguments, ...counting, '-'],
          input: input.bytes,
          inputBackpressure: undefined,
          backpressure: new Backpressure(),
          maxBytes: maxProgressBytes,
          timeoutMs: probeTimeoutMs,
        };
        const log = await runProcess(context, task, (text) => {
          progress = (progress + text.toString('latin1')).slice(-progressTail);
        });
        return readFacts(input.container ?? '', log, progress);
      };
      const request = { streams: false, needsFolder: needsFile(bytes), signal };
      const facts = await runner.run(request, work).catch((error: unknown) => {
        // A second attempt would take as long: not an error to retry.
        if (error instanceof ProcessFailure && error.reason === 'time')
          throw fail('invalid_request', 'takes too long to read', { cause: error });
        throw explained(error, true);
      });
      if (facts === undefined) throw fail('invalid_request', 'holds neither sound nor pictures');
      return facts;
    },

    convert: (source, conversion, backpressure) =>
      new Observable((subscriber) => {
        const { seekableOutput = false, inputBackpressure, maxBytes, timeoutMs } = conversion;
        const unsubscribed = new AbortController();
        const receive = (bytes: Buffer) => subscriber.next(bytes);
        const work = async (context: RunContext) => {
          const input = await open(source, conversion, context);
          const target = join(context.folder, 'output');
          const task = {
            arguments: [
              ...[...common, '-loglevel', 'error', ...input.arguments],
              ...['-filter_threads', '1', '-threads', '1', ...commentArguments(conversion)],
              ...conversion.arguments,
              ...(seekableOutput ? ['-fs', String(maxBytes + 1), `file:${target}`] : ['pipe:1']),
            ],
            input: input.bytes,
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
  };
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
