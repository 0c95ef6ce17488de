/** Models, engines and replicas: health, load, circuit breakers. */
import { useState } from 'preact/hooks';
import type { LiveSnapshot } from '../../../../../schemas/admin/live.ts';
import { useLive } from '../../api/live.ts';
import { here } from '../../router.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Interrupted } from '../../ui/interrupted.tsx';
import { Loading, Show } from '../../ui/loading.tsx';
import { toast } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { EngineDetails, ModelDetails } from './details.tsx';
import { EngineCard } from './engine-card.tsx';
import { loadModels, loadStatus, reloadCatalog } from './load.ts';
import { ModelsTable } from './models-table.tsx';
import { Problems } from './problems.tsx';
import './engines.css';

const intervalMs = 1_000;

const latest = (_: LiveSnapshot | undefined, snapshot: LiveSnapshot): LiveSnapshot => snapshot;

const Everything = ({
  snapshot,
  changed,
}: {
  readonly snapshot: LiveSnapshot | undefined;
  readonly changed: string;
}) => {
  const [refused, setRefused] = useState<unknown>();
  const [round, setRound] = useState(0);
  const models = useLoad(loadModels, [changed, round]);
  const status = useLoad(loadStatus, [changed, round]);
  const reload = async (): Promise<void> => {
    setRefused(undefined);
    try {
      toast(`The catalog was read again: ${await reloadCatalog()} models are in service.`);
    } catch (error) {
      setRefused(error);
    }
    setRound((before) => before + 1);
  };
  return (
    <>
      <PageHead
        title="Models &amp; engines"
        intro="A circuit that is open gets no calls; one that is half-open gets a trial call at a time."
        actions={<Button onClick={() => void reload()}>Reload the catalog</Button>}
      />
      {refused !== undefined && <ErrorNote error={refused} />}
      <Problems
        // The error above says the same of the file that was refused just now.
        problems={[
          ...(status.value?.unready ?? []),
          ...(refused === undefined ? (status.value?.problems ?? []) : []),
        ]}
        tone={status.value?.ready === false ? 'bad' : 'warning'}
      />
      {snapshot === undefined ? (
        <Loading />
      ) : (
        snapshot.engines.map((engine) => <EngineCard key={engine.id} engine={engine} />)
      )}
      <Card title="Models">
        <Show of={models}>{(list) => <ModelsTable models={list} />}</Show>
      </Card>
    </>
  );
};

const EnginesPage = () => {
  const { state: snapshot, interruption } = useLive(intervalMs, latest);
  const [kind, id] = here.value.rest;
  const changed = snapshot?.engines.map((engine) => `${engine.id} ${engine.health}`).join('\n') ?? '';
  return (
    <div class="stack">
      {kind === 'engine' && id !== undefined ? (
        <EngineDetails key={id} id={id} live={snapshot?.engines.find((engine) => engine.id === id)} />
      ) : kind === 'model' && id !== undefined ? (
        <ModelDetails key={id} id={id} changed={changed} />
      ) : (
        <Everything snapshot={snapshot} changed={changed} />
      )}
      <Interrupted interruption={interruption} />
    </div>
  );
};

export default EnginesPage;
