/** Measures the jitter of live streams, first alone and then during large uploads. */
import { Histogram } from '../histogram.ts';
import { Connection } from './connection.ts';
import { type StreamTally, startStreams } from './paced.ts';
import { type Target, uploadRequest } from './request.ts';
import { Errors, type Measured, type RunResult, seconds, Window } from './window.ts';

export interface UploadSettings extends Measured {
  readonly target: Target;
  readonly request: Buffer;
  readonly streams: number;
  readonly idleSeconds: number;
  readonly uploadBytes: number;
  readonly uploads: number;
}

const sliceBytes = 262_144;
const uploadTimeout = 20;

export const runUpload = async (settings: UploadSettings): Promise<RunResult> => {
  const { target } = settings;
  const errors = new Errors();
  const idle = new Histogram();
  const beside = new Histogram();
  const tally: StreamTally = { errors, firstToken: new Histogram(), gaps: undefined, events: 0 };
  const body = uploadRequest(target, settings.uploadBytes);
  const window = new Window(settings);
  const streams = await startStreams({ ...settings, port: target.port, rampSeconds: 0.5 }, tally);
  await seconds(0.5);
  tally.gaps = idle;
  await seconds(settings.idleSeconds);
  tally.gaps = beside;
  window.open();
  const startedAt = performance.now();
  for (let count = 0; count < settings.uploads; count += 1) {
    const outcome = await upload(target.port, body);
    if (outcome !== 'status 200') errors.add(`upload: ${outcome}`);
  }
  const perUpload = (performance.now() - startedAt) / settings.uploads;
  // A gap caused by the last upload ends with the next token.
  await seconds(0.2);
  const cost = window.close();
  for (const stream of streams) stream.connection.leave();
  return {
    errors: errors.byReason,
    metrics: {
      idle_gap_p99_ms: idle.percentile(0.99),
      upload_gap_p99_ms: beside.percentile(0.99),
      gap_p99_over_idle_ms: beside.percentile(0.99) - idle.percentile(0.99),
      upload_gap_max_ms: beside.percentile(1),
      upload_ms: perUpload,
      cpu_ms_per_upload: cost.cpuMilliseconds / settings.uploads,
      rss_peak_mb: cost.residentPeak,
      rss_growth_mb: cost.residentGrowth,
    },
  };
};

const upload = (port: number, body: Buffer): Promise<string> =>
  new Promise((resolve) => {
    const connection = new Connection(port);
    const timer = setTimeout(() => finish('no answer in time'), uploadTimeout * 1000);
    const finish = (outcome: string): void => {
      clearTimeout(timer);
      connection.leave();
      resolve(outcome);
    };
    connection.sendSlices(body, sliceBytes, {
      data: () => true,
      end: (_now, status) => finish(`status ${status}`),
      fail: finish,
    });
  });
