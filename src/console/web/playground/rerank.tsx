/** Documents by their relevance to a query. */
import { useState } from 'preact/hooks';
import { Empty } from '../ui/empty.tsx';
import { TextArea, TextField } from '../ui/field.tsx';
import { count, duration, money } from '../ui/format.ts';
import { type Column, Table } from '../ui/table.tsx';
import type { Call } from './call.ts';
import { Bench, Facts, type ModalityProps, RunForm, useModel } from './parts.tsx';
import { sendJson } from './send.ts';
import { useRun } from './use-run.ts';

interface Ranked {
  readonly index: number;
  readonly relevance_score: number;
  readonly document?: { readonly text: string };
}

interface Ranking {
  readonly results: readonly Ranked[];
  readonly usage: { readonly prompt_tokens: number };
}

const columns: readonly Column<Ranked>[] = [
  { title: 'Score', number: true, cell: ({ relevance_score }) => relevance_score.toFixed(4) },
  { title: 'Line', number: true, cell: ({ index }) => index + 1 },
  { title: 'Document', cell: ({ document }) => document?.text ?? '' },
];

const RerankPlay = ({ models }: ModalityProps) => {
  const { model, field } = useModel(models);
  const [query, setQuery] = useState('When does the tide rise?');
  const [lines, setLines] = useState(
    'Yeast makes bread rise.\nThe tide rises twice a day.\nLocks have gates.',
  );
  const [result, setResult] = useState<Ranking & { readonly tookMs: number }>();
  const run = useRun();
  const documents = lines.split('\n').filter((line) => line.trim() !== '');
  const call: Call = {
    path: '/rerank',
    json: { model: model.id, query, documents },
    result: { kind: 'json' },
  };
  const rank = (): void =>
    run.start(async (signal) => {
      const begun = performance.now();
      setResult({ ...(await sendJson<Ranking>(call, signal)), tookMs: performance.now() - begun });
    });
  return (
    <Bench
      call={call}
      form={
        <RunForm run={run} action="Rank" onSend={rank} ready={query.trim() !== '' && documents.length > 0}>
          {field}
          <TextField label="Query" value={query} onChange={setQuery} />
          <TextArea label="Documents" hint="One in each line." value={lines} onChange={setLines} rows={6} />
        </RunForm>
      }
      result={
        result === undefined ? (
          <Empty>The ranking appears here.</Empty>
        ) : (
          <div class="stack">
            <Facts
              of={{
                Tokens: count(result.usage.prompt_tokens),
                Cost: money(result.usage.prompt_tokens * Number(model.pricing.prompt)),
                Took: duration(result.tookMs),
              }}
            />
            <Table
              caption="Documents by relevance"
              columns={columns}
              rows={result.results}
              rowKey={({ index }) => String(index)}
            />
          </div>
        )
      }
    />
  );
};

export default RerankPlay;
