/** One engine: health, load, problems and replicas. */
import type { LiveEngine } from '../../../../../schemas/admin/live.ts';
import { linkTo } from '../../router.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { count } from '../../ui/format.ts';
import { HealthBadge } from './badges.tsx';
import { Problems } from './problems.tsx';
import { hitRate, Replicas } from './replicas.tsx';

const Facts = ({ engine }: { readonly engine: LiveEngine }) => {
  const { waiting, retries, continuations, prefix, tokens_per_second: rate, replicas } = engine;
  const inFlight = replicas.reduce((sum, replica) => sum + replica.in_flight, 0);
  const facts: readonly (readonly [string, string])[] = [
    ['Tokens/s', rate === null ? '–' : rate.toFixed(1)],
    ...(replicas.length === 0
      ? []
      : ([
          ['In flight', count(inFlight)],
          ['Waiting', count(waiting)],
          ['Retries', `${count(retries.made)}, ${count(retries.refused)} refused`],
          ['Continued streams', `${count(continuations.made)}, ${count(continuations.failed)} failed`],
          ['Prefix hits', hitRate(prefix)],
        ] as const)),
  ];
  return (
    <dl class="engine-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt class="muted">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
};

export const EngineCard = ({
  engine,
  isAlone = false,
}: {
  readonly engine: LiveEngine;
  /** On its own page. */
  readonly isAlone?: boolean;
}) => (
  <Card
    title={isAlone ? 'Now' : engine.id}
    actions={
      <>
        <HealthBadge health={engine.health} />
        {!isAlone && (
          <LinkButton href={linkTo(['engines', 'engine', engine.id])}>Details of {engine.id}</LinkButton>
        )}
      </>
    }
  >
    <Problems problems={engine.problems} tone={engine.health === 'down' ? 'bad' : 'warning'} />
    <Facts engine={engine} />
    {engine.replicas.length > 0 ? (
      <Replicas engine={engine} />
    ) : (
      <p class="muted">
        {engine.problems.length === 0 ? 'It runs inside the gateway.' : 'No replica is known.'}
      </p>
    )}
  </Card>
);
