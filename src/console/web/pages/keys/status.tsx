/** Where a key or a subscription is: active, suspended, expired, closed. */
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { Subscription } from './records.ts';

type Status = Subscription['status'];

const tones: Readonly<Record<Status | 'expired', Tone>> = {
  active: 'good',
  suspended: 'warning',
  expired: 'warning',
  closed: 'bad',
};

export const statusOf = ({
  status,
  expires,
}: {
  readonly status: Status;
  /** Unix seconds. */
  readonly expires?: number | undefined;
}): Status | 'expired' =>
  status === 'active' && expires !== undefined && expires * 1000 <= Date.now() ? 'expired' : status;

export const StatusBadge = ({ of }: { readonly of: Parameters<typeof statusOf>[0] }) => {
  const status = statusOf(of);
  return <Badge tone={tones[status]}>{status}</Badge>;
};
