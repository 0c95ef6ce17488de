/** Follows the snapshots of the admin API, and connects again when they stop. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveSnapshot } from '../../../../schemas/admin/live.ts';
import { messageOf } from '../ui/error-note.tsx';
import { adminApi } from './admin.ts';
import { ApiError, request } from './http.ts';
import { readEvents } from './sse.ts';

const firstPauseMs = 1_000;
const longestPauseMs = 10_000;

/** Undefined: snapshots arrive. */
export interface Interruption {
  readonly message: string;
  readonly retryMs: number;
}

export interface Follower {
  readonly snapshot: (snapshot: LiveSnapshot) => void;
  readonly interrupted: (by: Interruption) => void;
}

/** Until it is aborted, or the token is refused. */
export const followLive = async (
  intervalMs: number,
  { snapshot, interrupted }: Follower,
  signal: AbortSignal,
): Promise<void> => {
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    let message = 'The gateway ended the stream of snapshots.';
    try {
      const response = await request(adminApi, '/live', { query: { interval: intervalMs }, signal });
      for await (const { event, data } of readEvents(response)) {
        if (signal.aborted) return;
        if (event !== 'snapshot') continue;
        pauseMs = firstPauseMs;
        snapshot(JSON.parse(data) as LiveSnapshot);
      }
    } catch (error) {
      // The sign-in takes over.
      if (signal.aborted || (error instanceof ApiError && error.status === 401)) return;
      message =
        error instanceof ApiError ? messageOf(error) : 'The stream of snapshots from the gateway broke off.';
    }
    if (signal.aborted) return;
    interrupted({ message, retryMs: pauseMs });
    await passed(pauseMs, signal);
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  }
};

const passed = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

export interface Live<State> {
  /** Undefined until the first snapshot. */
  readonly state: State | undefined;
  readonly interruption: Interruption | undefined;
}

/** What `next` makes of each snapshot, rendered once for each; while paused it goes on unseen. */
export const useLive = <State>(
  intervalMs: number,
  next: (before: State | undefined, snapshot: LiveSnapshot) => State,
  paused = false,
): Live<State> => {
  const latest = useRef<Live<State>>({ state: undefined, interruption: undefined });
  const [shown, show] = useState(latest.current);
  const isPaused = useRef(paused);
  isPaused.current = paused;
  useEffect(() => {
    const controller = new AbortController();
    const put = (live: Live<State>): void => {
      latest.current = live;
      if (!isPaused.current) show(live);
    };
    void followLive(
      intervalMs,
      {
        snapshot: (snapshot) => put({ state: next(latest.current.state, snapshot), interruption: undefined }),
        interrupted: (interruption) => put({ ...latest.current, interruption }),
      },
      controller.signal,
    );
    return () => controller.abort();
  }, [intervalMs]);
  useEffect(() => {
    if (!paused) show(latest.current);
  }, [paused]);
  return shown;
};
