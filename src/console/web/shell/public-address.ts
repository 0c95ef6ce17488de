/** Tells the playground of the console where the public API is. */
import { effect } from '@preact/signals';
import type { AdminStatus } from '../../../../schemas/admin/status.ts';
import { adminJson } from '../api/admin.ts';
import { ApiError } from '../api/http.ts';
import { publicBase } from '../api/public.ts';
import { adminToken } from '../api/session.ts';
import { toast } from '../ui/toast.tsx';

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A gateway that listens on all addresses links to loopback; the browser may be elsewhere. */
export const reachable = (publicUrl: string, hostname: string): string => {
  const url = new URL(publicUrl);
  if (loopback.has(url.hostname)) url.hostname = hostname;
  return url.href.replace(/\/$/, '');
};

/** After each sign-in, and when a tab that is signed in loads again. */
export const followPublicAddress = (): void => {
  // Unknown until the status is here; this port has no such routes.
  publicBase.value = '';
  effect(() => {
    if (adminToken.value === undefined) return;
    adminJson<AdminStatus>('/status').then(
      ({ public_url }) => {
        publicBase.value = reachable(public_url, location.hostname);
      },
      (error: unknown) => {
        // A refused token leads back to the sign-in, which says so.
        if (error instanceof ApiError && error.status === 401) return;
        toast('The address of the public API is not known: the playground does not work.', 'bad');
      },
    );
  });
};
