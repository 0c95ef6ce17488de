/** Tries a server as the gateway would use it, and reports line by line what fits. */
import { createCodec } from '../codec/codec.ts';
import { wires } from '../engines/wires.ts';
import type { RenderCall } from '../ports/engines/render.ts';
import { checkChat } from './chat.ts';
import { attempt, type Finding, Note } from './finding.ts';
import { checkImages } from './images.ts';
import { checkRenders } from './renders.ts';
import { CheckedServer } from './server.ts';
import { checkSpeech, checkTranscription } from './sounds.ts';
import { Target, type TargetOptions } from './target.ts';
import { checkEmbedding, checkRerank } from './texts.ts';

export type { Finding } from './finding.ts';
export { type CheckKind, checkKinds } from './rows.ts';

export interface CheckOptions extends TargetOptions {
  /** Name of the model on the server; absent: the first one it lists. */
  readonly model: string | undefined;
  /** For all of it. */
  readonly timeoutMs: number;
}

/** Throws `InvalidOptions` for a row that the gateway would not load; a server that does not fit is a finding. */
export async function* checkEngine(options: CheckOptions): AsyncGenerator<Finding> {
  const { url, wire, key, timeoutMs } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  const codec = createCodec();
  try {
    // Invalid options are reported before any request.
    new Target(options, options.model ?? 'unknown', codec, signal);
    const server = new CheckedServer(url, wires.get(wire)?.headers(key) ?? {}, signal);
    let listed: readonly string[] = [];
    const reachable = await attempt('connection', async () => {
      const { status, body } = await server.send('GET', '/models');
      if (status === 401 || status === 403)
        throw new Error(
          `${status}: ${key === undefined ? 'a key is needed, --key' : 'the key is not accepted'}`,
        );
      listed = status < 300 ? modelIds(body) : [];
      return `GET /models is answered ${status}`;
    });
    yield reachable;
    if (reachable.verdict === 'fails') return;
    const model = options.model ?? listed[0];
    yield await attempt('model', async () => modelDetail(options.model, listed));
    if (model === undefined) return;
    for await (const finding of checksOf(new Target(options, model, codec, signal), options)) {
      yield finding;
      if (signal.aborted) return;
    }
  } finally {
    await codec.close();
  }
}

const modelIds = (body: Buffer): readonly string[] => {
  try {
    const { data } = JSON.parse(body.toString('utf8')) as { data?: unknown };
    if (!Array.isArray(data)) return [];
    return data.flatMap((entry: { id?: unknown } | null) =>
      typeof entry?.id === 'string' ? [entry.id] : [],
    );
  } catch {
    // Not needed by the gateway, so no failure.
    return [];
  }
};

const modelDetail = (wanted: string | undefined, listed: readonly string[]): string => {
  const [first] = listed;
  if (wanted === undefined && first === undefined)
    throw new Error('The server lists no models: name one with --model');
  if (wanted !== undefined && first !== undefined && !listed.includes(wanted))
    throw new Note(`${wanted} is not listed; listed: ${listed.slice(0, 10).join(', ')}`);
  return wanted ?? `${first}, the first of ${listed.length}`;
};

const checksOf = (target: Target, { kind, size }: CheckOptions): AsyncGenerator<Finding> => {
  switch (kind) {
    case 'chat':
      return checkChat(target);
    case 'embedding':
      return checkEmbedding(target);
    case 'rerank':
      return checkRerank(target);
    case 'image':
      return checkImages(target, size ?? '512x512');
    case 'speech':
      return checkSpeech(target);
    case 'transcription':
      return checkTranscription(target);
    case 'video':
      return checkRenders(target, videoCall(target));
    case 'music':
      return checkRenders(target, musicCall(target));
  }
};

const prompt = 'A red lighthouse on a cliff while the tide comes in';

/** The first size and the default length of the row. */
const videoCall = ({ model }: Target): RenderCall => {
  const spec = model.capabilities?.video;
  const [size = ''] = Object.values(Object.values(spec?.resolutions ?? {})[0]?.sizes ?? {});
  const [width = 0, height = 0] = size.split('x').map(Number);
  return {
    type: 'video',
    prompt,
    seconds: spec?.duration.default ?? 2,
    width,
    height,
    upscaled: false,
    steps: spec?.tiers.turbo.steps ?? 4,
    quality: 'turbo',
    // Sound is welcome; without the parameter in the row nothing is said about it.
    audio: true,
    seed: 1,
    startTimeSeconds: undefined,
    inputs: [],
  };
};

const musicCall = ({ model }: Target): RenderCall => ({
  type: 'music',
  prompt: 'A slow waltz for a rainy day',
  lyrics: undefined,
  seconds: model.capabilities?.music?.duration.default ?? 10,
  n: 1,
  format: model.capabilities?.music?.formats[0] ?? 'mp3',
  seed: 1,
});
