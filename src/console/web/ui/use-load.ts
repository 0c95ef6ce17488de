/** Loads something when a component appears or its inputs change; what is superseded is aborted. */
import { useCallback, useEffect, useState } from 'preact/hooks';

export interface Loaded<T> {
  /** Stays while it is loaded again. */
  readonly value: T | undefined;
  readonly error: unknown;
  readonly loading: boolean;
  readonly reload: () => void;
}

export const useLoad = <T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Loaded<T> => {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    value: undefined,
    error: undefined,
    loading: true,
  });
  const [round, setRound] = useState(0);
  // The caller names what the load depends on.
  useEffect(() => {
    const controller = new AbortController();
    setState(({ value }) => ({ value, error: undefined, loading: true }));
    load(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ value, error: undefined, loading: false });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setState(({ value }) => ({ value, error, loading: false }));
      },
    );
    return () => controller.abort();
  }, [...inputs, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, reload };
};
