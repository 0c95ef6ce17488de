/** Decisions: typed questions about a state, answered as probabilities. */
import { useState } from 'preact/hooks';
import { Empty } from '../ui/empty.tsx';
import { TextArea } from '../ui/field.tsx';
import { count, duration, money, percent } from '../ui/format.ts';
import { Bar } from './bar.tsx';
import type { Call, JsonObject } from './call.ts';
import { readSchema } from './chat/conversation.ts';
import { Bench, Facts, type ModalityProps, RunForm, useModel } from './parts.tsx';
import { sendJson } from './send.ts';
import { useRun } from './use-run.ts';

const exampleState = 'The parcel arrived broken and I want my money back.';
const exampleQuestions = `{
  "refund": { "type": "noul", "instructions": "Does the customer want money back?" },
  "mood": {
    "type": "score",
    "instructions": "How does the customer feel?",
    "criteria": ["angry", "calm", "happy"]
  },
  "team": {
    "type": "choice",
    "instructions": "Who should answer?",
    "criteria": { "returns": "Broken parcel, money back", "sales": "Wants to buy" }
  }
}`;

interface Answered {
  readonly type: 'noul' | 'choice' | 'score';
  readonly noul?: number;
  readonly choice?: string;
  readonly score?: number;
  readonly legend?: Readonly<Record<string, unknown>>;
  readonly probabilities?: Readonly<Record<string, number>>;
  readonly confidence?: number;
}

interface Decisions {
  readonly answers: Readonly<Record<string, Answered>>;
  readonly usage: { readonly input_tokens: number };
}

const labelOf = (label: unknown): string => (typeof label === 'string' ? label : JSON.stringify(label));

/** Yes and no of a `noul`, the options of a choice, the levels of a score. */
const sharesOf = ({
  noul,
  probabilities = {},
  legend = {},
}: Answered): readonly (readonly [string, number])[] =>
  noul === undefined
    ? Object.entries(probabilities).map(([name, share]) => [
        name in legend ? `${name}: ${labelOf(legend[name])}` : name,
        share,
      ])
    : [
        ['yes', noul],
        ['no', 1 - noul],
      ];

const summaryOf = ({ noul, choice, score }: Answered): string => {
  if (noul !== undefined) return noul >= 0.5 ? 'yes' : 'no';
  return choice ?? (score ?? 0).toFixed(2);
};

const attempt = (text: string): { readonly questions?: JsonObject; readonly problem?: string } => {
  try {
    return { questions: readSchema(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
};

const DecisionsPlay = ({ models }: ModalityProps) => {
  const { model, field } = useModel(models);
  const [state, setState] = useState(exampleState);
  const [text, setText] = useState(exampleQuestions);
  const [result, setResult] = useState<Decisions & { readonly tookMs: number }>();
  const run = useRun();
  const { questions, problem } = attempt(text);
  const call: Call = {
    path: '/systemone',
    json: { model: model.id, state, questions: questions ?? {} },
    result: { kind: 'json' },
  };
  const decide = (): void =>
    run.start(async (signal) => {
      const begun = performance.now();
      setResult({ ...(await sendJson<Decisions>(call, signal)), tookMs: performance.now() - begun });
    });
  return (
    <Bench
      call={call}
      form={
        <RunForm
          run={run}
          action="Decide"
          onSend={decide}
          ready={state.trim() !== '' && questions !== undefined}
        >
          {field}
          <TextArea label="State" value={state} onChange={setState} />
          <TextArea
            label="Questions as JSON"
            hint="noul: yes or no; choice: one of several; score: levels, lowest first."
            value={text}
            onChange={setText}
            rows={14}
            mono
            problem={problem}
          />
        </RunForm>
      }
      result={
        result === undefined ? (
          <Empty>The probabilities appear here.</Empty>
        ) : (
          <div class="stack">
            <Facts
              of={{
                Tokens: count(result.usage.input_tokens),
                Cost: money(result.usage.input_tokens * Number(model.pricing.prompt)),
                Took: duration(result.tookMs),
              }}
            />
            {Object.entries(result.answers).map(([name, answer]) => (
              <div key={name} class="stack tight">
                <h3>
                  {name}: {summaryOf(answer)}
                  {answer.confidence !== undefined && (
                    <span class="muted"> (confidence {percent(answer.confidence)})</span>
                  )}
                </h3>
                {sharesOf(answer).map(([option, share]) => (
                  <Bar key={option} name={option} share={share} />
                ))}
              </div>
            ))}
          </div>
        )
      }
    />
  );
};

export default DecisionsPlay;
