/** Short messages in a corner that leave by themselves and are read out politely. */
import { signal } from '@preact/signals';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad' | 'neutral';
}

const shownMs = 6_000;
const mostShown = 4;

const toasts = signal<readonly Toast[]>([]);
let nextId = 0;

export const toast = (text: string, tone: Toast['tone'] = 'good'): void => {
  const id = nextId++;
  toasts.value = [...toasts.value, { id, text, tone }].slice(-mostShown);
  setTimeout(() => {
    toasts.value = toasts.value.filter((each) => each.id !== id);
  }, shownMs);
};

/** Once per page. */
export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, tone }) => (
      <div key={id} class={`note ${tone}`}>
        {text}
      </div>
    ))}
  </div>
);
