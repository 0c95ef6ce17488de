/** Copies a text to the clipboard and says so. */
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { toast } from './toast.tsx';

const confirmedMs = 2_000;

export const CopyButton = ({
  text,
  label = 'Copy',
  name,
}: {
  /** Computed on the click where it is a function. */
  readonly text: string | (() => string);
  readonly label?: string;
  /** What is copied, for screen readers. */
  readonly name?: string;
}) => {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setCopied(true);
      setTimeout(() => setCopied(false), confirmedMs);
    } catch {
      // Browsers allow it on https and localhost only.
      toast('The browser did not allow access to the clipboard. Select the text and copy it.', 'bad');
    }
  };
  const shown = copied ? 'Copied' : label;
  return (
    <Button small onClick={copy} label={name === undefined ? undefined : `${shown} ${name}`}>
      {shown}
    </Button>
  );
};
