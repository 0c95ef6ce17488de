/** What the modalities share: choice of a model, send and stop, facts of a result, the request as a program. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ModelEntry } from '../../../../schemas/model-entry.ts';
import { publicBase } from '../api/public.ts';
import { apiKey } from '../api/session.ts';
import { here } from '../router.ts';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Code } from '../ui/code.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { SelectField } from '../ui/field.tsx';
import { Tabs } from '../ui/tabs.tsx';
import type { Call } from './call.ts';
import { snippetsOf } from './snippets.ts';
import type { Run } from './use-run.ts';

/** Each modality gets the models that it can use. */
export interface ModalityProps {
  readonly models: readonly ModelEntry[];
  readonly all: readonly ModelEntry[];
}

export interface ModelChoice {
  readonly model: ModelEntry;
  readonly field: ComponentChildren;
}

/** The one that the address names, else the first. */
export const useModel = (models: readonly ModelEntry[], label = 'Model'): ModelChoice => {
  const named = here.value.query.get('model');
  const [chosen, choose] = useState(named);
  const model = models.find(({ id }) => id === chosen) ?? models[0];
  if (model === undefined) throw new Error('There is no model of this kind');
  return {
    model,
    field: (
      <SelectField
        label={label}
        value={model.id}
        onChange={choose}
        options={models.map(({ id, name }) => ({ value: id, label: `${name} (${id})` }))}
      />
    ),
  };
};

const states = { idle: '', running: 'Running …', done: 'Done.', stopped: 'Stopped.', failed: 'Failed.' };

/** A form whose button sends, with a stop button while it runs, its state, and its failure. */
export const RunForm = ({
  run,
  action,
  onSend,
  ready,
  children,
}: {
  readonly run: Run;
  /** What the button says. */
  readonly action: string;
  readonly onSend: () => void;
  /** Whether the fields are complete. */
  readonly ready: boolean;
  readonly children: ComponentChildren;
}) => (
  <form
    class="stack"
    onSubmit={(event) => {
      event.preventDefault();
      if (ready && apiKey.value !== undefined && !run.running) onSend();
    }}
    onKeyDown={(event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
    }}
  >
    {children}
    <div class="row">
      <Button kind="primary" submit disabled={!ready || run.running || apiKey.value === undefined}>
        {action}
      </Button>
      {run.running && (
        <Button kind="danger" onClick={run.stop}>
          Stop
        </Button>
      )}
      <span class="muted" role="status">
        {apiKey.value === undefined ? 'Enter your key above to send requests.' : states[run.state]}
      </span>
    </div>
    {run.error !== undefined && <ErrorNote error={run.error} />}
  </form>
);

/** Names and values in a row; undefined values are left out. */
export const Facts = ({ of }: { readonly of: Readonly<Record<string, ComponentChildren | undefined>> }) => (
  <dl class="figures">
    {Object.entries(of).map(
      ([name, value]) =>
        value !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

export const Snippets = ({ call }: { readonly call: Call }) => {
  const snippets = snippetsOf(call, publicBase.value);
  const [selected, select] = useState('curl');
  const shown = snippets.find(({ id }) => id === selected);
  return (
    <Card title="This request as a program">
      <Tabs label="Language" tabs={snippets} selected={selected} onSelect={select}>
        {shown !== undefined && <Code text={shown.text} name={`as ${shown.title}`} />}
      </Tabs>
    </Card>
  );
};

/** Two columns: what is sent, what came back; below them the program. */
export const Bench = ({
  form,
  result,
  call,
}: {
  readonly form: ComponentChildren;
  readonly result: ComponentChildren;
  readonly call: Call;
}) => (
  <div class="stack">
    <div class="bench">
      <Card title="Request">{form}</Card>
      <Card title="Result">{result}</Card>
    </div>
    <Snippets call={call} />
  </div>
);

/** Undefined where the field is empty. */
export const numberOf = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));
