/** Moves the focus to the main column when a page shows something else, as a load of a document would. */
import { useEffect, useRef } from 'preact/hooks';

export const useMainFocus = (shown: string): void => {
  const before = useRef(shown);
  useEffect(() => {
    if (before.current === shown) return;
    before.current = shown;
    document.getElementById('main')?.focus();
  }, [shown]);
};
