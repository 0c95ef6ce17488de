/** One request at a time: whether it runs, how it failed, and a way to stop it. */
import { useEffect, useRef, useState } from 'preact/hooks';

export type RunState = 'idle' | 'running' | 'done' | 'stopped' | 'failed';

export interface Run {
  readonly state: RunState;
  readonly running: boolean;
  readonly error: unknown;
  /** Stops what runs before. */
  readonly start: (work: (signal: AbortSignal) => Promise<void>) => void;
  readonly stop: () => void;
}

export const useRun = (): Run => {
  const [{ state, error }, set] = useState<{ readonly state: RunState; readonly error: unknown }>({
    state: 'idle',
    error: undefined,
  });
  const current = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const start: Run['start'] = (work) => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    set({ state: 'running', error: undefined });
    work(controller.signal).then(
      () => {
        if (current.current === controller) set({ state: 'done', error: undefined });
      },
      (failure: unknown) => {
        if (current.current !== controller) return;
        if (controller.signal.aborted) set({ state: 'stopped', error: undefined });
        else set({ state: 'failed', error: failure });
      },
    );
  };
  return { state, running: state === 'running', error, start, stop: () => current.current?.abort() };
};
