/** Says that there is nothing, and what to do about it. */
import type { ComponentChildren } from 'preact';

export const Empty = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="empty">{children}</div>
);
