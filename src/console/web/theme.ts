/** Light or dark: as the system says, until the visitor chooses. */
import { effect, signal } from '@preact/signals';

export type Theme = 'light' | 'dark';

const name = 'sluice.theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const asSystem = (): Theme => (system.matches ? 'dark' : 'light');
const chosen = (): Theme | undefined => {
  const value = localStorage.getItem(name);
  return value === 'light' || value === 'dark' ? value : undefined;
};

export const theme = signal<Theme>(chosen() ?? asSystem());

system.addEventListener('change', () => {
  theme.value = chosen() ?? asSystem();
});

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export const toggleTheme = (): void => {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  localStorage.setItem(name, theme.value);
};
