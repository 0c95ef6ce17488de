/** A framed part of a page with a heading, and a number with its name. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export const Card = ({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) => {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="row spread">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </section>
  );
};

export const Stat = ({
  name,
  value,
  hint,
}: {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly hint?: ComponentChildren;
}) => (
  <dl class="card stat">
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {hint !== undefined && <div class="hint">{hint}</div>}
      </dd>
    </div>
  </dl>
);

/** The heading of a page: one per page, with its actions. */
export const PageHead = ({
  title,
  intro,
  actions,
}: {
  readonly title: string;
  readonly intro?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) => (
  <div class="row spread">
    <div>
      <h1>{title}</h1>
      {intro !== undefined && <p class="muted">{intro}</p>}
    </div>
    {actions !== undefined && <div class="row">{actions}</div>}
  </div>
);
