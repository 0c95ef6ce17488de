/** Renders a component again at most once per animation frame, however often its data changes. */
import { useEffect, useRef, useState } from 'preact/hooks';

/** To be called after each change. */
export const useFrames = (): (() => void) => {
  const [, render] = useState(0);
  const asked = useRef<number | undefined>(undefined);
  useEffect(
    () => () => {
      if (asked.current !== undefined) cancelAnimationFrame(asked.current);
    },
    [],
  );
  return () => {
    asked.current ??= requestAnimationFrame(() => {
      asked.current = undefined;
      render((count) => count + 1);
    });
  };
};
