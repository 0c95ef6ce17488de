/** Jobs and deliveries: their states, and where they are shown. */

import type { AdminDelivery } from '../../../../../schemas/admin/deliveries.ts';
import type { AdminJob } from '../../../../../schemas/admin/jobs.ts';
import { linkTo } from '../../router.ts';
import type { Tone } from '../../ui/badge.tsx';

export type { AdminDelivery, AdminJob };

/** Entries that are loaded at a time. */
export const step = 50;
/** While something runs. */
export const refreshMs = 2_000;

export const jobTones: Readonly<Record<AdminJob['status'], Tone>> = {
  pending: 'neutral',
  in_progress: 'accent',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warning',
  expired: 'neutral',
};

export const deliveryTones: Readonly<Record<AdminDelivery['status'], Tone>> = {
  waiting: 'warning',
  delivered: 'good',
  'given up': 'bad',
};

export const isOpen = ({ status }: AdminJob): boolean => status === 'pending' || status === 'in_progress';

export const linkToJob = (id: string): string => linkTo(['jobs', id]);
export const linkToDelivery = (id: string): string => linkTo(['jobs', 'deliveries', id]);
