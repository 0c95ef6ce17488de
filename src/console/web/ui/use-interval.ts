/** Calls a function again and again while the tab is visible. */
import { useEffect, useRef } from 'preact/hooks';

/** Undefined: not now. */
export const useInterval = (run: () => void, milliseconds: number | undefined): void => {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (milliseconds === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
};
