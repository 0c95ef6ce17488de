/** A sentence that stands out: a hint, a warning, a success. */
import type { ComponentChildren } from 'preact';

export const Note = ({
  tone = 'neutral',
  children,
}: {
  readonly tone?: 'neutral' | 'good' | 'warning' | 'bad';
  readonly children: ComponentChildren;
}) => <div class={`note ${tone}`}>{children}</div>;
