/** The times, the usage and the raw events of a stream. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ModelEntry } from '../../../../../schemas/model-entry.ts';
import { Checkbox } from '../../ui/field.tsx';
import { count, duration, money } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Facts } from '../parts.tsx';
import type { Usage } from './answer.ts';
import { mostEvents, type Stream } from './stream.ts';

/** Rows while events arrive; all that are kept are shown at the end. */
const mostWhileRunning = 100;

/** By the prices of the catalog, as the gateway bills it. */
export const costOf = ({ pricing }: ModelEntry, usage: Usage): number => {
  const price = (
    field: 'prompt' | 'completion' | 'internal_reasoning' | 'input_cache_read',
    otherwise: string,
  ) => Number(pricing[field] ?? otherwise);
  return (
    (usage.prompt - usage.cached) * price('prompt', '0') +
    usage.cached * price('input_cache_read', pricing.prompt) +
    (usage.completion - usage.reasoning) * price('completion', '0') +
    usage.reasoning * price('internal_reasoning', pricing.completion)
  );
};

const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`;

export const StreamFacts = ({ stream, model }: { readonly stream: Stream; readonly model: ModelEntry }) => {
  const { answer, rate } = stream;
  const { usage } = answer;
  return (
    <Facts
      of={{
        'First token': stream.firstTokenAt === undefined ? undefined : ms(stream.firstTokenAt),
        'Tokens/s': rate === undefined ? undefined : rate.toFixed(1),
        Total: stream.endAt === undefined ? undefined : duration(stream.endAt),
        'Prompt tokens':
          usage && `${count(usage.prompt)}${usage.cached === 0 ? '' : ` (${count(usage.cached)} cached)`}`,
        'Completion tokens':
          usage &&
          `${count(usage.completion)}${usage.reasoning === 0 ? '' : ` (${count(usage.reasoning)} reasoning)`}`,
        Cost: usage && money(costOf(model, usage)),
        Finish: answer.finish,
        Request: stream.requestId && <span class="mono">{stream.requestId}</span>,
      }}
    />
  );
};

/** Of tokens in the line above the events. */
const mostGaps = 200;

/** Time between tokens: pauses are peaks. */
const Gaps = ({ stream }: { readonly stream: Stream }) => {
  const gaps = stream.events
    .filter(({ token }) => token !== undefined)
    .slice(-mostGaps)
    .map(({ since }) => since);
  // The first one is the wait for the response.
  const [, ...values] = gaps;
  if (values.length < 2) return null;
  return (
    <figure>
      <Sparkline label={`Time between tokens, at most ${ms(Math.max(...values))}`} values={values} />
      <figcaption class="muted">Time between tokens, at most {ms(Math.max(...values))}</figcaption>
    </figure>
  );
};

export const RawEvents = ({ stream, running }: { readonly stream: Stream; readonly running: boolean }) => {
  const shown = stream.events.slice(-(running ? mostWhileRunning : mostEvents));
  const left = stream.count - shown.length;
  const [raw, setRaw] = useState(true);
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    if (running && frame.current !== null) frame.current.scrollTop = frame.current.scrollHeight;
  });
  return (
    <>
      <Gaps stream={stream} />
      <Checkbox label="Raw events" checked={raw} onChange={setRaw} />
      {left > 0 && (
        <Note>
          {running
            ? `The latest ${shown.length} of ${count(stream.count)} events.`
            : `${count(left)} earlier events are no longer kept.`}
        </Note>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls */}
      <section class="events" ref={frame} tabIndex={0} aria-label="Raw events">
        <ol>
          {shown.map(({ number, at, since, text, token }) => (
            <li key={number}>
              <span class="time">{ms(at)}</span>
              <span class="gap">+{ms(since)}</span>
              {token !== undefined && <mark>{token}</mark>}
              {raw && <code>{text}</code>}
            </li>
          ))}
        </ol>
      </section>
    </>
  );
};
