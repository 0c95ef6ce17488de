/** How much of something is done or used, as a bar. */
import type { Tone } from './badge.tsx';

export const Bar = ({
  label,
  share,
  tone = 'accent',
}: {
  readonly label: string;
  /** 0 to 1. */
  readonly share: number;
  readonly tone?: Tone;
}) => <progress class={`bar ${tone}`} aria-label={label} max={1} value={Math.min(1, Math.max(0, share))} />;
