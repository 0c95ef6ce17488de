/** Vector stores: create, upload, search, and chat with the passages that were found. */
import { useState } from 'preact/hooks';
import { publicJson } from '../../api/public.ts';
import { apiKey } from '../../api/session.ts';
import { kindOf } from '../../pages/models/describe.ts';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { count } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { useLoad } from '../../ui/use-load.ts';
import type { Call } from '../call.ts';
import { type ModalityProps, RunForm, Snippets, useModel } from '../parts.tsx';
import { sendJson } from '../send.ts';
import { useRun } from '../use-run.ts';
import { Ask } from './ask.tsx';
import { Files } from './files.tsx';
import { Search } from './search.tsx';
import type { Page, Store } from './shapes.ts';

const Create = ({
  models,
  onCreated,
  onCall,
}: Pick<ModalityProps, 'models'> & {
  readonly onCreated: (id: string) => void;
  readonly onCall: (call: Call) => void;
}) => {
  const { model, field } = useModel(models, 'Embedding model');
  const [name, setName] = useState('');
  const run = useRun();
  const call: Call = {
    path: '/vector_store',
    json: { name, embedding_model: model.id },
    result: { kind: 'json' },
  };
  const create = (): void => {
    onCall(call);
    run.start(async (signal) => {
      const { id } = await sendJson<Store>(call, signal);
      setName('');
      onCreated(id);
    });
  };
  return (
    <RunForm run={run} action="Create the store" onSend={create} ready={name.trim() !== ''}>
      <TextField label="Name of a new store" value={name} onChange={setName} />
      {field}
    </RunForm>
  );
};

const firstCall: Call = { path: '/vector_store', json: { name: 'guides' }, result: { kind: 'json' } };

const StoresPlay = ({ models, all }: ModalityProps) => {
  const [chosen, choose] = useState<string>();
  const [call, setCall] = useState(firstCall);
  const key = apiKey.value;
  const stores = useLoad(
    async (signal) =>
      key === undefined
        ? []
        : (await publicJson<Page<Store>>('/vector_store', { query: { limit: 100 }, signal })).data,
    [key],
  );
  const chat = all.filter((model) => kindOf(model) === 'chat');
  return (
    <div class="stack">
      <div class="bench">
        <Card title="Store">
          <Show of={stores}>
            {(list) => {
              const store = list.find(({ id }) => id === chosen) ?? list[0];
              return (
                <>
                  {store === undefined ? (
                    <Empty>There is no store yet.</Empty>
                  ) : (
                    <>
                      <SelectField
                        label="Store"
                        value={store.id}
                        onChange={choose}
                        options={list.map(({ id, name }) => ({
                          value: id,
                          label: `${name ?? 'unnamed'} (${id})`,
                        }))}
                        hint={`${count(store.item_count)} passages of ${count(store.file_counts.total)} files, by ${store.embedding_model}`}
                      />
                      <Files key={store.id} store={store.id} onCall={setCall} onChange={stores.reload} />
                    </>
                  )}
                  <Create
                    models={models}
                    onCall={setCall}
                    onCreated={(id) => {
                      choose(id);
                      stores.reload();
                    }}
                  />
                </>
              );
            }}
          </Show>
        </Card>
        {stores.value !== undefined && stores.value.length > 0 && (
          <StoreUse
            store={stores.value.find(({ id }) => id === chosen)?.id ?? stores.value[0]?.id ?? ''}
            chat={chat}
            onCall={setCall}
          />
        )}
      </div>
      <Snippets call={call} />
    </div>
  );
};

const StoreUse = ({
  store,
  chat,
  onCall,
}: {
  readonly store: string;
  readonly chat: ModalityProps['models'];
  readonly onCall: (call: Call) => void;
}) => (
  <div class="stack">
    <Card title="Search">
      <Search key={store} store={store} onCall={onCall} />
    </Card>
    {chat.length > 0 && (
      <Card title="Ask with the passages">
        <Ask key={store} store={store} models={chat} onCall={onCall} />
      </Card>
    )}
  </div>
);

export default StoresPlay;
