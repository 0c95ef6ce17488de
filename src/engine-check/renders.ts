/** Checks a server of videos or songs: a whole render with its file, a first frame, cancellation, a bad request. */
import { setTimeout as delay } from 'node:timers/promises';
import { map, mergeMap, of, toArray } from 'rxjs';
import { EngineJobRecord } from '../../schemas/engine-protocol/responses.ts';
import type { EngineJob, RenderWire, WireRequest } from '../engines/wire.ts';
import { fail } from '../errors.ts';
import { fitOutput, promisedType } from '../jobs/output-format.ts';
import { readWavBeginning } from '../music/wav.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { MediaFacts } from '../ports/codec.ts';
import type { RenderCall, VideoCall } from '../ports/engines/render.ts';
import type { Base64 } from '../ports/media.ts';
import { checkBadRequest } from './every-kind.ts';
import { explain } from './explain.ts';
import { attempt, type Finding, Note } from './finding.ts';
import { samplePicture } from './sample-picture.ts';
import type { Target } from './target.ts';

export async function* checkRenders(target: Target, call: RenderCall): AsyncGenerator<Finding> {
  const wire = target.wire.renders;
  if (wire === undefined) {
    yield await attempt('job', () => Promise.reject(new Error(`The wire ${target.row.wire} has no renders`)));
    return;
  }
  const seen: EngineJob[] = [];
  let file: Buffer | undefined;
  const job = await attempt('job', async () => {
    file = await rendered(target, wire, call, seen);
    const states = [...new Set(seen.map(({ state }) => words[state]))];
    return `${states.join(', then ')}; polled ${seen.length - 1} times`;
  });
  yield job;
  if (file !== undefined) {
    const bytes = file;
    yield await attempt('progress', async () => {
      const percents = [...new Set(seen.map(({ done }) => Math.round(done * 100)))];
      if (percents.every((percent) => percent === 0 || percent === 100))
        throw new Note('None between 0 and 100: clients see an estimate');
      return `${percents.join(', ')} %`;
    });
    yield await attempt('file', () => checkFile(target, call, bytes));
    yield await attempt('removal', () => checkRemoval(target, wire, call, seen[0]?.id ?? ''));
  }
  if (job.verdict === 'fails' && seen.length === 0) return;
  if (call.type === 'music') yield await checkProgressive(target, wire, call);
  else yield await checkFirstFrame(target, wire, call);
  yield await checkCancellation(target, wire, call);
  yield await checkBadRequest(target, wire.encode(target.model, call, []));
}

const words = { waiting: 'queued', rendering: 'in progress', done: 'completed', failed: 'failed' } as const;

/** By the gateway's own code; `seen` gets every record that the server sends. */
const rendered = async (
  target: Target,
  wire: RenderWire,
  call: RenderCall,
  seen: EngineJob[],
): Promise<Buffer> => {
  const watched: RenderWire = {
    ...wire,
    decode: (of, body) => {
      const record = readRecord(wire, of, body);
      seen.push(record);
      return record;
    },
  };
  const files = await target.call(
    (engine, flow) =>
      engine
        .render?.(target.model, call, { ...flow, jobId: flow.requestId, input: () => of(Buffer.alloc(0)) })
        .pipe(
          mergeMap((event) =>
            event.type === 'output'
              ? event.bytes(new Backpressure()).pipe(
                  toArray(),
                  map((pieces) => Buffer.concat(pieces)),
                )
              : [],
          ),
        ),
    { ...target.wire, renders: watched },
  );
  const [file] = files;
  if (file === undefined) throw new Error('The job is completed, but there is no file');
  return file;
};

/** Fails with the field at fault, and so that the gateway's code does not try again. */
const readRecord = (wire: RenderWire, call: RenderCall, body: Buffer): EngineJob => {
  try {
    return wire.decode(call, body);
  } catch (cause) {
    const problem = explain(EngineJobRecord, body);
    if (problem === undefined) throw cause;
    throw fail('invalid_request', `No record of a job: ${problem}`);
  }
};

/** Seconds by which a clip may be shorter or longer: models render on a grid of frames. */
const tolerance = 1;

const checkFile = async (target: Target, call: RenderCall, bytes: Buffer): Promise<string> => {
  const facts = await decoded(target, bytes).catch((cause: unknown) => {
    throw new Error(`The file of ${bytes.length} bytes cannot be decoded`, { cause });
  });
  const { container, seconds, width, height, videoCodec, audioCodec } = facts;
  const codecs = [videoCodec, audioCodec].filter((codec) => codec !== undefined).join(' and ');
  const size = width === undefined ? '' : `, ${width}x${height}`;
  const found = `${container} (${codecs}) of ${seconds.toFixed(1)} s${size}`;
  const fitting = fitOutput(call, facts);
  if ('fault' in fitting) throw new Error(`${found}: it ${fitting.fault}`);
  if (fitting.arguments !== undefined)
    throw new Note(`${found}: the gateway converts every file to ${promisedType(call)}`);
  // The seconds of a song are the most it may have.
  if (seconds > call.seconds + tolerance || (call.type === 'video' && seconds < call.seconds - tolerance))
    throw new Note(`${found}, where ${call.seconds} s were requested`);
  if (call.type === 'video' && (width !== call.width || height !== call.height))
    throw new Note(`${found}, where ${call.width}x${call.height} were requested`);
  return found;
};

/** Every picture and sample of it, as the gateway does before it bills. */
const decoded = async ({ codec, signal }: Target, bytes: Buffer): Promise<MediaFacts> => {
  const spooling = { maxBytes: bytes.length, backpressure: new Backpressure(), signal };
  const file = await codec.spool(of(bytes), spooling);
  try {
    return await codec.verify(file, signal);
  } finally {
    await file.remove();
  }
};

/** Milliseconds. */
const removalPatience = 5000;
const lookEvery = 200;

const checkRemoval = async (
  target: Target,
  wire: RenderWire,
  call: RenderCall,
  id: string,
): Promise<string> => {
  if (!(await isGone(target, wire, call, id)))
    throw new Note('The finished job is still there after DELETE: files pile up on the server');
  return 'the finished job is gone after DELETE';
};

/** Deleted, or no longer running. */
const isGone = async (target: Target, wire: RenderWire, call: RenderCall, id: string): Promise<boolean> => {
  const end = Date.now() + removalPatience;
  for (;;) {
    const { status, body } = await target.server.send('GET', wire.jobPath(call, id));
    if (status === 404 || status === 410) return true;
    if (status < 300 && wire.decode(call, body).state === 'failed') return true;
    if (Date.now() > end) return false;
    await delay(lookEvery, undefined, { signal: target.signal });
  }
};

const create = async (
  target: Target,
  wire: RenderWire,
  call: RenderCall,
  request: WireRequest,
): Promise<EngineJob> => {
  const { path, ...sent } = request;
  const { status, body } = await target.server.send('POST', path, sent);
  if (status >= 300) {
    const { message } = target.wire.readError(status, body.toString('utf8'));
    throw new Error(`The server answered ${status}: ${message ?? 'no reason given'}`);
  }
  return readRecord(wire, call, body);
};

const checkCancellation = (target: Target, wire: RenderWire, call: RenderCall): Promise<Finding> =>
  attempt('cancellation', async () => {
    const { id } = await create(target, wire, call, wire.encode(target.model, call, []));
    const { status } = await target.server.send('DELETE', wire.jobPath(call, id));
    if (status >= 300) throw new Error(`DELETE of a running job is answered ${status}`);
    if (!(await isGone(target, wire, call, id)))
      throw new Error(`The job still runs ${removalPatience / 1000} s after DELETE`);
    return 'a running job is stopped by DELETE';
  });

const checkFirstFrame = (target: Target, wire: RenderWire, call: VideoCall): Promise<Finding> =>
  attempt('first frame', async () => {
    const { bytes } = await samplePicture(target.codec);
    const input = { kind: 'image', use: 'first_frame', blob: '', mediaType: 'image/png' } as const;
    const framed: VideoCall = { ...call, inputs: [input] };
    const media: Base64 = wire.sendsFiles(target.model) ? bytes : bytes.toString('base64');
    const request = wire.encode(target.model, framed, [media]);
    const { id } = await create(target, wire, framed, request).catch((cause: unknown) => {
      throw new Note('Not taken: leave it out of capabilities.video.frame_images', { cause });
    });
    await target.server.send('DELETE', wire.jobPath(call, id));
    return 'taken';
  });

/** Bytes that a WAV header may need. */
const headerBytes = 44;

const checkProgressive = (target: Target, wire: RenderWire, call: RenderCall): Promise<Finding> =>
  attempt('progressive stream', async () => {
    const { id } = await create(target, wire, call, wire.encode(target.model, call, []));
    const { status, body } = await target.server.send('GET', wire.streamPath(call, id, 0));
    await target.server.send('DELETE', wire.jobPath(call, id));
    const none = 'set capabilities.music.streaming.progressive to false';
    if (status >= 300) throw new Note(`${status}: ${none}`);
    const wav = readWavBeginning(body.subarray(0, Math.max(headerBytes, 4096)));
    if (wav === undefined || wav.bits !== 16) throw new Note(`No WAV of 16 bits: ${none}`);
    return `sample_rate ${wav.sampleRate}, channels ${wav.channels}`;
  });
