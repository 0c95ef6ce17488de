/** A button, or a link that looks like one. */
import type { ComponentChildren } from 'preact';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (() => void) | undefined;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly small?: boolean;
  /** Submits its form. */
  readonly submit?: boolean;
  readonly disabled?: boolean | undefined;
  /** Where the text alone does not say what it is about. */
  readonly label?: string | undefined;
  readonly pressed?: boolean | undefined;
}

const classOf = (kind: string, small: boolean): string => `button ${kind}${small ? ' small' : ''}`;

export const Button = ({
  children,
  onClick,
  kind = 'plain',
  small = false,
  submit = false,
  disabled = false,
  label,
  pressed,
}: ButtonProps) => (
  <button
    type={submit ? 'submit' : 'button'}
    class={classOf(kind, small)}
    disabled={disabled}
    aria-label={label}
    aria-pressed={pressed}
    onClick={onClick}
  >
    {children}
  </button>
);

export const LinkButton = ({
  href,
  children,
  kind = 'plain',
  download,
}: {
  readonly href: string;
  readonly children: ComponentChildren;
  readonly kind?: 'plain' | 'primary' | 'quiet';
  readonly download?: string | undefined;
}) => (
  <a class={classOf(kind, false)} href={href} download={download}>
    {children}
  </a>
);
