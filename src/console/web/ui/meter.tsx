/** A bar that shows how much of something is used, and how much more is reserved. */
export const Meter = ({
  label,
  share,
  reserved = 0,
  text,
}: {
  /** For screen readers: of what. */
  readonly label: string;
  /** 0 to 1. */
  readonly share: number;
  /** On top of it. */
  readonly reserved?: number;
  /** What screen readers say instead of a percentage. */
  readonly text: string;
}) => {
  const used = Math.min(1, Math.max(0, share));
  const more = Math.min(1 - used, Math.max(0, reserved));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a meter element has no second part
    <div
      class={`meter ${used >= 0.95 ? 'bad' : used >= 0.8 ? 'warning' : ''}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(used * 100)}
      aria-valuetext={text}
    >
      <span style={{ width: `${used * 100}%` }} />
      <span class="reserved" style={{ width: `${more * 100}%` }} />
    </div>
  );
};
