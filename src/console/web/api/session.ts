/** Secrets of the visitor, kept in this tab only. */
import { type Signal, signal } from '@preact/signals';

/** Gone when the tab is closed; never sent anywhere but to the gateway. */
const kept = (name: string): Signal<string | undefined> => {
  const stored = signal<string | undefined>(sessionStorage.getItem(name) ?? undefined);
  stored.subscribe((value) => {
    if (value === undefined) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
  });
  return stored;
};

/** API key of the public port. */
export const apiKey = kept('sluice.key');
/** Token of the admin API. */
export const adminToken = kept('sluice.token');
