/** What is shown of something that is loaded: a word while it loads, its error, or itself. */
import type { ComponentChildren } from 'preact';
import { ErrorNote } from './error-note.tsx';
import type { Loaded } from './use-load.ts';

export const Loading = () => (
  <p class="muted" role="status">
    Loading …
  </p>
);

export const Show = <T,>({
  of,
  children,
}: {
  readonly of: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}) => (
  <>
    {of.error !== undefined && <ErrorNote error={of.error} onRetry={of.reload} />}
    {of.value === undefined ? of.error === undefined && <Loading /> : children(of.value)}
  </>
);
