/** Creates a job, polls it until it ends, and loads its first output; who stops it cancels the job. */
import { ApiError, request } from '../../api/http.ts';
import { publicApi, publicJson } from '../../api/public.ts';
import type { Call } from '../call.ts';
import { sendJson } from '../send.ts';

export interface Job {
  readonly id: string;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled';
  readonly progress: number;
  readonly queue_position?: number | null;
  readonly error?: string;
  readonly error_code?: string;
  readonly stream_url?: string;
  readonly usage?: { readonly billed_seconds: number; readonly cost: number };
}

const pollMs = 500;

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** The bytes of its first output. `onState` sees every state, the last one included. */
export const runJob = async (call: Call, signal: AbortSignal, onState: (job: Job) => void): Promise<Blob> => {
  let job = await sendJson<Job>(call, signal);
  const path = `${call.path}/${job.id}`;
  try {
    onState(job);
    while (job.status === 'pending' || job.status === 'in_progress') {
      await pause(pollMs, signal);
      job = await publicJson<Job>(path, { signal });
      onState(job);
    }
    if (job.status !== 'completed')
      throw new ApiError(`The job ${job.status}: ${job.error ?? job.error_code ?? 'no reason given'}`, {
        status: 0,
      });
    return await (await request(publicApi, `${path}/content`, { signal })).blob();
  } catch (error) {
    // Nobody waits for it any more; it may have ended meanwhile, which is as good.
    if (signal.aborted && job.status !== 'completed')
      request(publicApi, path, { method: 'DELETE' }).catch(() => {});
    throw error;
  }
};
