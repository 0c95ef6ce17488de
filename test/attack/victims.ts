/** The victim: requests of one kind at a steady rate, with the time that each took. */
import { setTimeout as delay } from 'node:timers/promises';
import { pngUri, wav } from '../fuzz/samples.ts';
import { docx, paragraph } from '../offload/sample-documents.ts';

export const victimKinds = [
  'chat',
  'named',
  'long',
  'counted',
  'document',
  'transcription',
  'picture',
] as const;
export type VictimKind = (typeof victimKinds)[number];

export interface Measured {
  readonly sent: number;
  /** Milliseconds; the time limit for requests that did not end in time. */
  readonly p50: number;
  readonly p99: number;
  /** By status, or `cut` and `late`. */
  readonly failures: Readonly<Record<string, number>>;
}

interface Traffic {
  readonly path: string;
  readonly body: string;
  /** Requests that are begun in a second, whether or not earlier ones have ended. */
  readonly rate: number;
}

interface Victim {
  readonly url: string;
  readonly key: string;
  readonly kind: VictimKind;
}

/** The time limit of one request. */
const patienceMs = 10_000;
/** Requests that wait for their response; when all do, the gateway is down and more would tell nothing new. */
const mostOpen = 256;

const saying = (model: string, content: unknown) =>
  JSON.stringify({ model, max_tokens: 8, messages: [{ role: 'user', content }] });
const brief = '/sim tokens=4 rate=max\n';

const small = docx(paragraph('The gate of the lock opens at noon.')).toString('base64');
const smallDocument = {
  type: 'file',
  file: {
    filename: 'gate.docx',
    file_data: `data:application/vnd.openxmlformats-officedocument.wordprocessingml.document;base64,${small}`,
  },
};

const traffic: Readonly<Record<VictimKind, Traffic>> = {
  chat: { path: '/chat/completions', body: saying('sluice/chat', `${brief}Hello`), rate: 40 },
  /** Its engine has a host name in place of an address. */
  named: { path: '/chat/completions', body: saying('attack/named', 'Hello'), rate: 20 },
  /** Large enough to be parsed on a thread. */
  long: {
    path: '/chat/completions',
    body: saying('sluice/chat', `${brief}${'The water rises. '.repeat(18_000)}`),
    rate: 4,
  },
  /** So close to a small context window that its tokens are counted, on a thread. */
  counted: {
    path: '/chat/completions',
    body: saying('sluice/chat-small', `${brief}${'The water rises. '.repeat(400)}`),
    rate: 10,
  },
  document: {
    path: '/chat/completions',
    body: saying('sluice/vision', [{ type: 'text', text: brief }, smallDocument]),
    rate: 10,
  },
  transcription: {
    path: '/audio/transcriptions',
    body: JSON.stringify({
      model: 'sluice/transcribe',
      input_audio: { data: wav.toString('base64'), format: 'wav' },
    }),
    rate: 3,
  },
  picture: {
    path: '/images/edits',
    body: JSON.stringify({
      model: 'sluice/image-edit',
      prompt: '/sim render=0ms\nA lock',
      size: '256x256',
      images: [{ image_url: pngUri }],
    }),
    rate: 3,
  },
};

/** Sends requests for so many milliseconds, and waits for the last. */
export const measure = async (victim: Victim, milliseconds: number): Promise<Measured> => {
  const { rate } = traffic[victim.kind];
  const times: number[] = [];
  const failures: Record<string, number> = {};
  const open = new Set<Promise<void>>();
  const begun = performance.now();
  for (let number = 0; (number * 1000) / rate < milliseconds; number++) {
    await delay(Math.max(0, begun + (number * 1000) / rate - performance.now()));
    if (open.size >= mostOpen) continue;
    const request = send(victim).then(({ time, failure }) => {
      times.push(time);
      if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1;
      open.delete(request);
    });
    open.add(request);
  }
  await Promise.all(open);
  times.sort((one, other) => one - other);
  return { sent: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99), failures };
};

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;

const send = async ({ url, key, kind }: Victim): Promise<{ time: number; failure?: string }> => {
  const { path, body } = traffic[kind];
  const begun = performance.now();
  const signal = AbortSignal.timeout(patienceMs);
  const time = () => performance.now() - begun;
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      signal,
    });
    await response.arrayBuffer();
    return response.ok ? { time: time() } : { time: time(), failure: String(response.status) };
  } catch {
    return signal.aborted ? { time: patienceMs, failure: 'late' } : { time: time(), failure: 'cut' };
  }
};
