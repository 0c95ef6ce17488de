/** The turns of a conversation: texts, reasoning, attachments, calls of tools and their results. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import type { ToolCall, Turn } from './conversation.ts';

const Reasoning = ({ text, open }: { readonly text: string; readonly open: boolean }) => (
  <details open={open}>
    <summary>Reasoning</summary>
    <div class="said">{text}</div>
  </details>
);

const Call = ({ call }: { readonly call: ToolCall }) => (
  <div class="stack tight">
    <div class="row">
      <Badge tone="accent">calls</Badge>
      <code>{call.name}</code>
    </div>
    <pre>{call.arguments}</pre>
  </div>
);

const names = { user: 'You', assistant: 'Model', tool: 'Tool results' };

/** `streaming`: the reasoning is shown until the text begins. */
export const TurnView = ({
  turn,
  streaming = false,
}: {
  readonly turn: Turn;
  readonly streaming?: boolean;
}) => (
  <li class={`turn ${turn.role}`}>
    <h3>{names[turn.role]}</h3>
    {turn.role === 'assistant' && turn.reasoning !== '' && (
      <Reasoning text={turn.reasoning} open={streaming && turn.text === ''} />
    )}
    {turn.role !== 'tool' && turn.text !== '' && <div class="said">{turn.text}</div>}
    {turn.role === 'user' && turn.files.length > 0 && (
      <div class="row">
        {turn.files.map((file) => (
          <Badge key={file.name}>{file.name}</Badge>
        ))}
      </div>
    )}
    {turn.role === 'assistant' && turn.calls.map((call) => <Call key={call.id} call={call} />)}
    {turn.role === 'tool' &&
      turn.results.map(({ call, text }) => (
        <div key={call.id}>
          <code>{call.name}</code>: <span class="said">{text}</span>
        </div>
      ))}
  </li>
);

/** Asks for a result of each call. */
export const ToolResults = ({
  calls,
  onSend,
}: {
  readonly calls: readonly ToolCall[];
  readonly onSend: (results: readonly { readonly call: ToolCall; readonly text: string }[]) => void;
}) => {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(calls.map((call) => ({ call, text: texts[call.id] ?? '' })));
      }}
    >
      {calls.map((call) => (
        <TextArea
          key={call.id}
          label={`Result of ${call.name}`}
          mono
          rows={2}
          value={texts[call.id] ?? ''}
          onChange={(text) => setTexts({ ...texts, [call.id]: text })}
          placeholder='{"temperature": 21}'
        />
      ))}
      <div>
        <Button kind="primary" submit>
          Send the results
        </Button>
      </div>
    </form>
  );
};

const announceMs = 2_000;

/** Reads a growing text to screen readers in pieces, not token by token. */
export const Announcer = ({ text }: { readonly text: string }) => {
  const latest = useRef(text);
  latest.current = text;
  const said = useRef(0);
  const [piece, setPiece] = useState('');
  useEffect(() => {
    const timer = setInterval(() => {
      if (latest.current.length < said.current) said.current = 0;
      if (latest.current.length === said.current) return;
      setPiece(latest.current.slice(said.current));
      said.current = latest.current.length;
    }, announceMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="visually-hidden" aria-live="polite">
      {piece}
    </div>
  );
};
