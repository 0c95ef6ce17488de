/** The model catalog: what each model can do and costs. */
import { useState } from 'preact/hooks';
import type { ModelEntry } from '../../../../../schemas/model-entry.ts';
import { listModels } from '../../api/public.ts';
import { apiKey } from '../../api/session.ts';
import { here, linkTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { PageHead } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Show } from '../../ui/loading.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { abilitiesOf, contextOf, kindOf, matches, priceText } from './describe.ts';
import { ModelDetails } from './details.tsx';

const columns: readonly Column<ModelEntry>[] = [
  {
    title: 'Model',
    sortBy: ({ id }) => id,
    cell: ({ id, name }) => (
      <div class="stack tight">
        <a href={linkTo(['models', id])}>{name}</a>
        <div class="row">
          <span class="mono">{id}</span>
          <CopyButton text={id} name={`the id of ${name}`} />
        </div>
      </div>
    ),
  },
  { title: 'Kind', sortBy: kindOf, cell: (model) => <Badge tone="accent">{kindOf(model)}</Badge> },
  {
    title: 'Can do',
    cell: (model) => (
      <div class="stack tight">
        <span>{model.description}</span>
        <div class="row">
          {abilitiesOf(model).map((ability) => (
            <Badge key={ability}>{ability}</Badge>
          ))}
        </div>
      </div>
    ),
  },
  {
    title: 'Context',
    number: true,
    sortBy: (model) => model.context_length ?? 0,
    cell: (model) => contextOf(model),
  },
  {
    title: 'Price',
    sortBy: (model) => Math.max(Number(model.pricing.prompt), Number(model.pricing.completion)),
    cell: (model) => priceText(model),
  },
];

const Catalog = ({ models }: { readonly models: readonly ModelEntry[] }) => {
  const [words, setWords] = useState('');
  const [kind, setKind] = useState('');
  const kinds = [...new Set(models.map(kindOf))].sort();
  const shown = models.filter((model) => (kind === '' || kindOf(model) === kind) && matches(model, words));
  return (
    <>
      <div class="grid">
        <TextField
          label="Filter"
          type="search"
          value={words}
          onChange={setWords}
          placeholder="tools, image …"
        />
        <SelectField
          label="Kind"
          value={kind}
          onChange={setKind}
          options={[{ value: '', label: 'all kinds' }, ...kinds]}
        />
      </div>
      <p class="muted" role="status">
        {shown.length} of {models.length} models
      </p>
      <Table
        caption="Models on offer"
        columns={columns}
        rows={shown}
        rowKey={({ id }) => id}
        empty="No model matches the filter."
      />
    </>
  );
};

const ModelsPage = () => {
  const models = useLoad((signal) => listModels(signal), [apiKey.value]);
  const [wanted] = here.value.rest;
  return (
    <div class="stack">
      {wanted === undefined && (
        <PageHead title="Models" intro="Prices are US dollars per million tokens, megapixel or second." />
      )}
      <Show of={models}>
        {(list) => {
          if (wanted === undefined) return <Catalog models={list} />;
          const model = list.find(({ id }) => id === wanted);
          return model === undefined ? (
            <Empty>There is no model “{wanted}”.</Empty>
          ) : (
            <ModelDetails model={model} />
          );
        }}
      </Show>
    </div>
  );
};

export default ModelsPage;
