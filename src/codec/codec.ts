/** Sound and moving pictures in; what they are, or the same in another format, out: ffmpeg does it, in processes of its own. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Observable } from 'rxjs';
import { fail } from '../errors.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Codec, Conversion } from '../ports/codec.ts';
import { Semaphore } from '../semaphore.ts';
import { type BinaryOptions, type Command, findCommand } from './binary.ts';
import { countingArguments, readFacts } from './facts.ts';
import { type InputSource, namedInput, needsFile, type OpenInput, toldInput } from './input.ts';
import { inPrivateFolder } from './private-folder.ts';
import { ProcessFailure, runProcess } from './process.ts';
import { readOut } from './read-out.ts';
import type { Starter } from './starter.ts';
import { Starters } from './starters.ts';

export interface CodecOptions extends Partial<BinaryOptions> {
  /** Processes at once whose input is all there, and of those that wait for a stream, … */
  readonly maxRuns?: number;
  readonly maxStreams?: number;
  /** … what may wait for one to end, … */
  readonly maxWaiting?: number;
  /** … each for so many milliseconds. */
  readonly maxWait?: number;
  readonly probeTimeoutMs?: number;
  /** A longer file is counted up to here. */
  readonly maxProbeSeconds?: number;
  /** Bytes of a streamed input that are kept on disk. */
  readonly maxSpoolBytes?: number;
}

/** What work is done with. */
interface Means extends Command {
  readonly starter: Starter;
}

const mebibyte = 1024 * 1024;
const busy = 'The service is busy with other sound and video; retry in a moment';
const common = [
  '-hide_banner',
  '-nostdin',
  '-nostats',
  '-max_alloc',
  String(512 * mebibyte),
  '-threads',
  '1',
];
/** An hour of counting tells less than this. */
const maxProgressBytes = 4 * mebibyte;
/** Enough for the last report. */
const progressTail = 2048;

/** No process runs before the first call. */
export const createCodec = (options: CodecOptions = {}): Codec => {
  const cores = availableParallelism();
  const maxWaiting = options.maxWaiting ?? 128;
  const runs = new Semaphore(options.maxRuns ?? Math.max(2, cores), maxWaiting, busy);
  // These mostly wait for whoever makes the stream, and must not keep others waiting meanwhile.
  const streams = new Semaphore(options.maxStreams ?? Math.max(16, 4 * cores), maxWaiting, busy);
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  const starters = new Starters();
  let command: Promise<Command> | undefined;

  const findOnce = (): Promise<Command> => {
    command ??= findCommand({
      path: options.path,
      memoryMegabytes: options.memoryMegabytes ?? 2048,
    }).catch((error: unknown) => {
      // What is missing now may be installed later.
      command = undefined;
      throw error;
    });
    return command;
  };

  /** Work that gets its turn, and holds it until everything it started is gone. */
  const inTurn = async <T>(
    semaphore: Semaphore,
    wantsFolder: boolean,
    caller: AbortSignal,
    work: (means: Means, folder: string, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const signal = AbortSignal.any([caller, closing.signal]);
    const waiting = new AbortController();
    const clock = setTimeout(() => waiting.abort(fail('unavailable', busy)), options.maxWait ?? 30_000);
    const turn = semaphore
      .pass(AbortSignal.any([signal, waiting.signal]), async () => {
        clearTimeout(clock);
        const found = await findOnce();
        const starter = await starters.current();
        const means = { ...found, starter };
        return wantsFolder
          ? await inPrivateFolder(starter.folder, (folder) => work(means, folder, signal))
          : await work(means, '', signal);
      })
      .finally(() => {
        clearTimeout(clock);
        running.delete(turn);
      });
    running.add(turn);
    return turn;
  };

  const open = (
    source: InputSource,
    { inputArguments, inputBackpressure }: Pick<Conversion, 'inputArguments' | 'inputBackpressure'>,
    folder: string,
    signal: AbortSignal,
  ): Promise<OpenInput> | OpenInput =>
    source === undefined || inputArguments !== undefined
      ? namedInput(source, inputArguments ?? [])
      : toldInput(source, folder, {
          signal,
          inputBackpressure,
          maxSpoolBytes: options.maxSpoolBytes ?? 512 * mebibyte,
        });

  return {
    probe: async (bytes, caller = new AbortController().signal) => {
      const work = async ({ file, prefix, starter }: Means, folder: string, signal: AbortSignal) => {
        const input = await open(bytes, {}, folder, signal);
        const counting = countingArguments(options.maxProbeSeconds ?? 5 * 3600);
        let progress = '';
        const task = {
          file,
          // Pictures are counted, and only those that stand alone are looked at.
          arguments: [...prefix, ...common, '-skip_frame', 'nokey', ...input.arguments, ...counting, '-'],
          input: input.bytes,
          inputBackpressure: undefined,
          backpressure: new Backpressure(),
          maxBytes: maxProgressBytes,
          timeoutMs: options.probeTimeoutMs ?? 60_000,
        };
        const log = await runProcess(starter, task, signal, (text) => {
          progress = (progress + text.toString('latin1')).slice(-progressTail);
        });
        return readFacts(input.container ?? '', log, progress);
      };
      const facts = await inTurn(runs, needsFile(bytes), caller, work).catch((error: unknown) => {
        // It would take as long again: nothing to be tried a second time.
        if (error instanceof ProcessFailure && error.reason === 'time')
          throw fail('invalid_request', 'takes too long to read', { cause: error });
        throw explained(error, true);
      });
      if (facts === undefined) throw fail('invalid_request', 'holds neither sound nor pictures');
      return facts;
    },

    convert: (source, conversion, backpressure) =>
      new Observable((subscriber) => {
        const leaving = new AbortController();
        const { seekableOutput = false, maxBytes, timeoutMs } = conversion;
        const wantsFile =
          source !== undefined && conversion.inputArguments === undefined && needsFile(source);
        const receive = (bytes: Buffer) => subscriber.next(bytes);
        const work = async ({ file, prefix, starter }: Means, folder: string, signal: AbortSignal) => {
          const input = await open(source, conversion, folder, signal);
          const target = join(folder, 'output');
          const task = {
            file,
            arguments: [
              ...[...prefix, ...common, '-loglevel', 'error', ...input.arguments],
              ...['-filter_threads', '1', '-threads', '1', ...commentArguments(conversion)],
              ...conversion.arguments,
              ...(seekableOutput ? ['-fs', String(maxBytes + 1), `file:${target}`] : ['pipe:1']),
            ],
            input: input.bytes,
            inputBackpressure: conversion.inputBackpressure,
            backpressure: seekableOutput ? new Backpressure() : backpressure,
            maxBytes,
            timeoutMs,
          };
          await runProcess(starter, task, signal, receive);
          if (seekableOutput) await readOut(target, { maxBytes, backpressure, signal }, receive);
        };
        const semaphore = source instanceof Observable ? streams : runs;
        inTurn(semaphore, wantsFile || seekableOutput, leaving.signal, work).then(
          () => subscriber.complete(),
          (error: unknown) => subscriber.error(explained(error, source !== undefined)),
        );
        return () => leaving.abort();
      }),

    close: async () => {
      closing.abort(fail('unavailable', 'The service is shutting down'));
      await Promise.allSettled(running);
      await starters.close();
    },
  };
};

/** The system bounds an argument, and ends it at a zero. */
const longestComment = 32 * 1024;

const commentArguments = ({ comment }: Conversion): readonly string[] =>
  comment === undefined
    ? []
    : ['-metadata', `comment=${comment.slice(0, longestComment).replaceAll('\0', '')}`];

/** A process that ends badly was given something bad; without input, by us. */
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
