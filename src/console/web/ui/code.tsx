/** A block of code or raw text, with a button to copy it. */
import { CopyButton } from './copy-button.tsx';

export const Code = ({ text, name }: { readonly text: string; readonly name: string }) => (
  <div class="code">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls */}
    <section tabIndex={0} aria-label={name}>
      <pre>{text}</pre>
    </section>
    <CopyButton text={text} name={name} />
  </div>
);
