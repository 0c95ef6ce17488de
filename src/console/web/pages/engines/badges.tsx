/** States of engines and their replicas as coloured words. */
import type { AdminEngine, AdminReplica } from '../../../../../schemas/admin/engines.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';

const circuits: Readonly<Record<AdminReplica['circuit'], Tone>> = {
  closed: 'good',
  'half-open': 'warning',
  open: 'bad',
};

export const CircuitBadge = ({ replica }: { readonly replica: AdminReplica }) => (
  <Badge tone={circuits[replica.circuit]} title={replica.last_error?.message}>
    {replica.circuit}
  </Badge>
);

/** A replica in one word: its name, circuit and calls. */
const ReplicaBadge = ({ replica }: { readonly replica: AdminReplica }) => (
  <Badge
    tone={replica.drained ? 'neutral' : circuits[replica.circuit]}
    title={replica.last_error === null ? replica.url : `${replica.url}: ${replica.last_error.message}`}
  >
    {replica.alias}: {replica.drained ? 'drained' : replica.circuit}, {replica.in_flight} in flight
  </Badge>
);

/** The first few of many. */
const mostBadges = 12;

export const ReplicaBadges = ({ replicas }: Pick<AdminEngine, 'replicas'>) => (
  <>
    {replicas.slice(0, mostBadges).map((replica) => (
      <ReplicaBadge key={`${replica.alias} ${replica.url}`} replica={replica} />
    ))}
    {replicas.length > mostBadges && <span class="muted">and {replicas.length - mostBadges} more</span>}
  </>
);

export const HealthBadge = ({ health }: Pick<AdminEngine, 'health'>) => (
  <Badge tone={health === 'ok' ? 'good' : 'bad'}>{health}</Badge>
);
