/** A share of the whole as a bar with its number. */
import { percent } from '../ui/format.ts';

export const Bar = ({ name, share }: { readonly name: string; readonly share: number }) => (
  <div class="bar">
    <span class="name">{name}</span>
    <div class="track" aria-hidden="true">
      <div style={{ '--share': String(Math.max(0, Math.min(1, share))) }} />
    </div>
    <span class="number">{percent(share)}</span>
  </div>
);
