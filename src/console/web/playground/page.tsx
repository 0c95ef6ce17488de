/** Tries every kind of model with the visitor's key. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ModelEntry } from '../../../../schemas/model-entry.ts';
import { listModels, publicBase } from '../api/public.ts';
import { apiKey } from '../api/session.ts';
import { kindOf } from '../pages/models/describe.ts';
import { goTo, here } from '../router.ts';
import { KeyCard } from '../shell/key-card.tsx';
import { PageHead } from '../ui/card.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Loading, Show } from '../ui/loading.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useLoad } from '../ui/use-load.ts';
import { type Modality, modalities } from './modalities.ts';
import type { ModalityProps } from './parts.tsx';
import './playground.css';

const loaded = new Map<Modality, ComponentType<ModalityProps>>();

const Content = ({ modality, all }: { readonly modality: Modality; readonly all: readonly ModelEntry[] }) => {
  const [, shown] = useState<Modality>();
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    setFailure(undefined);
    modality.load().then(
      ({ default: component }) => {
        loaded.set(modality, component);
        shown(modality);
      },
      (error: unknown) => setFailure(error),
    );
  }, [modality]);
  const models = all.filter((model) => kindOf(model) === modality.kind);
  if (models.length === 0) return <Empty>There is no model for this on offer.</Empty>;
  const Component = loaded.get(modality);
  if (Component !== undefined) return <Component models={models} all={all} />;
  return failure === undefined ? <Loading /> : <ErrorNote error={failure} />;
};

/** By the path of the address, else by the model that it names. */
const chosen = (all: readonly ModelEntry[]): Modality | undefined => {
  const [named] = here.value.rest;
  const model = all.find(({ id }) => id === here.value.query.get('model'));
  const kind = model === undefined ? undefined : kindOf(model);
  return (
    modalities.find(({ id }) => id === named) ??
    modalities.find((each) => each.kind === kind) ??
    modalities[0]
  );
};

const Playground = () => {
  const models = useLoad((signal) => listModels(signal), [apiKey.value, publicBase.value]);
  return (
    <>
      {apiKey.value === undefined && <KeyCard />}
      <Show of={models}>
        {(all) => {
          const modality = chosen(all);
          return (
            modality !== undefined && (
              <Tabs
                label="Kind of model"
                tabs={modalities}
                selected={modality.id}
                onSelect={(id) => goTo(['playground', id])}
              >
                <Content key={modality.id} modality={modality} all={all} />
              </Tabs>
            )
          );
        }}
      </Show>
      {apiKey.value !== undefined && <KeyCard />}
    </>
  );
};

const PlaygroundPage = () => (
  <div class="stack">
    <PageHead title="Playground" intro="Requests are real, and billed to the key." />
    {publicBase.value === '' ? <Loading /> : <Playground />}
  </div>
);

export default PlaygroundPage;
