/** Names and values of one thing, in lines. */
import type { ComponentChildren } from 'preact';

export const Facts = ({ children }: { readonly children: ComponentChildren }) => (
  <dl class="facts">{children}</dl>
);

export const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt class="muted">{name}</dt>
    <dd>{children}</dd>
  </div>
);
