/** Requests in flight as they flow, per model and per engine. */
import { useRef, useState } from 'preact/hooks';
import { useLive } from '../../api/live.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { count } from '../../ui/format.ts';
import { Interrupted } from '../../ui/interrupted.tsx';
import { Loading } from '../../ui/loading.tsx';
import { HealthBadge, ReplicaBadges } from '../engines/badges.tsx';
import { Problems } from '../engines/problems.tsx';
import { Charts, Counts, Engines } from './overview.tsx';
import { RequestDialog } from './request-dialog.tsx';
import { EndedTable, RunningTable } from './rows.tsx';
import { type EngineGroup, groupsOf, inFlight, type LiveState, nextState } from './state.ts';
import type { Shown } from './timeline.ts';
import './live.css';

const intervalMs = 1_000;

const Group = ({
  group,
  onChoose,
}: {
  readonly group: EngineGroup;
  readonly onChoose: (id: string) => void;
}) => (
  <Card
    title={group.id === null ? 'No engine yet' : `Engine ${group.id}`}
    actions={
      group.engine !== undefined && (
        <>
          <HealthBadge health={group.engine.health} />
          <ReplicaBadges replicas={group.engine.replicas} />
        </>
      )
    }
  >
    {group.models.map(({ id, counted, requests }) => {
      const name = id ?? 'No model yet';
      return (
        <section key={name} class="stack tight" aria-label={name}>
          <div class="row spread">
            <h3 class="anywhere">{name}</h3>
            <span class="muted">
              {count(counted === undefined ? requests.length : inFlight(counted))} in flight
              {counted !== undefined && `, ${counted.queued} queued`}
              {counted !== undefined &&
                counted.tokens_per_second !== null &&
                `, ${counted.tokens_per_second.toFixed(1)} tokens/s`}
            </span>
          </div>
          <RunningTable caption={`Requests of ${name}`} requests={requests} onChoose={onChoose} />
        </section>
      );
    })}
  </Card>
);

const Requests = ({
  state,
  onChoose,
}: {
  readonly state: LiveState;
  readonly onChoose: (id: string) => void;
}) => {
  const { snapshot, ended } = state;
  const total = inFlight(snapshot.counts);
  return (
    <>
      {total > snapshot.requests.length && (
        <p class="muted">
          The newest {count(snapshot.requests.length)} of {count(total)} requests are shown.
        </p>
      )}
      {snapshot.requests.length === 0 && <Empty>No request is in flight.</Empty>}
      {groupsOf(state).map((group) => (
        <Group key={group.id ?? ''} group={group} onChoose={onChoose} />
      ))}
      <Card title="Ended last">
        <EndedTable requests={ended} onChoose={onChoose} />
      </Card>
    </>
  );
};

const LivePage = () => {
  const [paused, setPaused] = useState(false);
  const [chosen, choose] = useState<string>();
  const { state, interruption } = useLive(intervalMs, nextState, paused);
  const lastKnown = useRef<Shown | undefined>(undefined);
  const found: Shown | undefined =
    state?.snapshot.requests.find(({ id }) => id === chosen) ?? state?.ended.find(({ id }) => id === chosen);
  if (found !== undefined) lastKnown.current = found;
  const shown = found ?? (lastKnown.current?.id === chosen ? lastKnown.current : undefined);
  return (
    <div class="stack">
      <PageHead
        title="Live"
        intro="Requests in flight, from the queue to the last token."
        actions={
          <Button onClick={() => setPaused(!paused)} pressed={paused}>
            {paused ? 'Paused: resume' : 'Pause'}
          </Button>
        }
      />
      <Interrupted interruption={interruption} />
      {state === undefined ? (
        interruption === undefined && <Loading />
      ) : (
        <>
          <Counts state={state} />
          <Problems
            problems={state.snapshot.engines
              .filter(({ health }) => health === 'down')
              .map(({ id, problems: [first = 'it takes no calls'] }) => `Engine ${id} is down: ${first}`)}
            tone="bad"
          />
          <Charts points={state.points} />
          <Requests state={state} onChoose={choose} />
          <Engines engines={state.snapshot.engines} />
        </>
      )}
      {shown !== undefined && (
        <RequestDialog
          key={shown.id}
          request={shown}
          isKnown={found !== undefined}
          onClose={() => choose(undefined)}
        />
      )}
    </div>
  );
};

export default LivePage;
