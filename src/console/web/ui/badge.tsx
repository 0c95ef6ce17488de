/** A short word on a coloured ground: a state, a kind. */
import type { ComponentChildren } from 'preact';

export type Tone = 'neutral' | 'good' | 'warning' | 'bad' | 'accent';

export const Badge = ({
  tone = 'neutral',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}) => (
  <span class={`badge ${tone}`} title={title}>
    {children}
  </span>
);
