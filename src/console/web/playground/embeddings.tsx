/** Embeddings: how alike several texts are, as a matrix. */
import { useState } from 'preact/hooks';
import { Empty } from '../ui/empty.tsx';
import { TextArea } from '../ui/field.tsx';
import { count, duration, money } from '../ui/format.ts';
import type { Call } from './call.ts';
import { Bench, Facts, type ModalityProps, RunForm, useModel } from './parts.tsx';
import { sendJson } from './send.ts';
import { similarity } from './similarity.ts';
import { useRun } from './use-run.ts';

/** Texts whose matrix can still be read. */
const mostTexts = 20;

interface Embeddings {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] }[];
  readonly usage: { readonly prompt_tokens: number };
}

interface Result {
  readonly texts: readonly string[];
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number;
  readonly tookMs: number;
}

const Matrix = ({ texts, vectors }: Result) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls
  <section class="table-frame" tabIndex={0} aria-label="Similarity">
    <table class="table matrix">
      <caption>Similarity of each text to each other: 1 is the same</caption>
      <thead>
        <tr>
          <th scope="col">Text</th>
          {texts.map((text, index) => (
            <th key={index} scope="col" title={text}>
              {index + 1}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {texts.map((text, row) => (
          <tr key={row}>
            <th scope="row">
              {row + 1}. {text}
            </th>
            {vectors.map((vector, column) => {
              const value = similarity(vectors[row] ?? [], vector);
              return (
                <td key={column} class="cell" style={{ '--share': String(Math.max(0, value)) }}>
                  {value.toFixed(2)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const EmbeddingsPlay = ({ models }: ModalityProps) => {
  const { model, field } = useModel(models);
  const [lines, setLines] = useState(
    'The tide rises twice a day\nThe tide falls twice a day\nBread needs yeast',
  );
  const [result, setResult] = useState<Result>();
  const run = useRun();
  const texts = lines.split('\n').filter((line) => line.trim() !== '');
  const call: Call = {
    path: '/embeddings',
    json: { model: model.id, input: texts },
    result: { kind: 'json' },
  };
  const compare = (): void =>
    run.start(async (signal) => {
      const begun = performance.now();
      const { data, usage } = await sendJson<Embeddings>(call, signal);
      const vectors = [...data].sort((a, b) => a.index - b.index).map(({ embedding }) => embedding);
      setResult({ texts, vectors, tokens: usage.prompt_tokens, tookMs: performance.now() - begun });
    });
  return (
    <Bench
      call={call}
      form={
        <RunForm
          run={run}
          action="Compare"
          onSend={compare}
          ready={texts.length > 0 && texts.length <= mostTexts}
        >
          {field}
          <TextArea
            label="Texts"
            hint="One in each line."
            value={lines}
            onChange={setLines}
            rows={6}
            problem={texts.length > mostTexts ? `At most ${mostTexts} texts.` : undefined}
          />
        </RunForm>
      }
      result={
        result === undefined ? (
          <Empty>The matrix appears here.</Empty>
        ) : (
          <div class="stack">
            <Facts
              of={{
                Dimensions: count(result.vectors[0]?.length ?? 0),
                Tokens: count(result.tokens),
                Cost: money(result.tokens * Number(model.pricing.prompt)),
                Took: duration(result.tookMs),
              }}
            />
            <Matrix {...result} />
          </div>
        )
      }
    />
  );
};

export default EmbeddingsPlay;
