/** Chat in three dialects: settings, conversation, and the raw events beside it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FileField, TextArea } from '../../ui/field.tsx';
import type { Call } from '../call.ts';
import { type ModalityProps, RunForm, Snippets, useModel } from '../parts.tsx';
import { useFrames } from '../use-frames.ts';
import { useRun } from '../use-run.ts';
import type { Answer } from './answer.ts';
import type { Turn } from './conversation.ts';
import { Announcer, ToolResults, TurnView } from './conversation-view.tsx';
import { useSettings } from './settings.tsx';
import { Stream } from './stream.ts';
import { RawEvents, StreamFacts } from './stream-view.tsx';

/** Files of one message. */
const mostFiles = 10;

const turnOf = ({ text, reasoning, calls }: Answer): Turn => ({ role: 'assistant', text, reasoning, calls });

const Chat = ({ models }: ModalityProps) => {
  const choice = useModel(models);
  const { dialect, settings, fields } = useSettings(choice);
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [text, setText] = useState('');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [stream, setStream] = useState<Stream>();
  const [sent, setSent] = useState<Call>();
  // A new field: a form forgets its files only so.
  const [round, setRound] = useState(0);
  const run = useRun();
  const changed = useFrames();
  const end = useRef<HTMLOListElement>(null);

  const callOf = (conversation: readonly Turn[]): Call | undefined =>
    settings && {
      path: dialect.path,
      json: dialect.body(conversation, settings),
      result: { kind: 'events' },
    };

  const ask = (turn: Turn): void => {
    const conversation = [...turns, turn];
    const call = callOf(conversation);
    if (call === undefined) return;
    const next = new Stream();
    setTurns(conversation);
    setStream(next);
    setSent(call);
    run.start(async (signal) => {
      try {
        await next.run(call, dialect.read, signal, changed);
      } finally {
        const { answer } = next;
        if (answer.text !== '' || answer.calls.length > 0) {
          // Also of a response that was stopped.
          setTurns([...conversation, turnOf(answer)]);
          setFiles([]);
          setRound((before) => before + 1);
        } else {
          setTurns(turns);
          if (turn.role === 'user') setText(turn.text);
        }
      }
    });
  };

  const sendText = (): void => {
    ask({ role: 'user', text, files });
    setText('');
  };

  const running = run.running && stream !== undefined;
  const shown = running ? [...turns, turnOf(stream.answer)] : turns;
  const last = turns.at(-1);
  const open = !run.running && last?.role === 'assistant' ? last.calls : [];
  const draft = text === '' && sent !== undefined ? sent : callOf([...turns, { role: 'user', text, files }]);

  useEffect(() => {
    const list = end.current;
    if (running && list !== null) list.scrollTop = list.scrollHeight;
  });

  return (
    <div class="stack">
      <div class="chat">
        <Card title="Settings">{fields}</Card>
        <Card
          title="Conversation"
          actions={
            turns.length > 0 &&
            !run.running && (
              <Button
                small
                onClick={() => {
                  setTurns([]);
                  setStream(undefined);
                  setSent(undefined);
                }}
              >
                New conversation
              </Button>
            )
          }
        >
          {shown.length === 0 ? (
            <Empty>Nothing said yet.</Empty>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls
            <ol class="turns" ref={end} tabIndex={0} aria-label="Turns">
              {shown.map((turn, index) => (
                <TurnView key={index} turn={turn} streaming={running && index === shown.length - 1} />
              ))}
            </ol>
          )}
          <Announcer text={stream?.answer.text ?? ''} />
          {stream !== undefined && <StreamFacts stream={stream} model={choice.model} />}
          {open.length > 0 && (
            <ToolResults
              key={turns.length}
              calls={open}
              onSend={(results) => ask({ role: 'tool', results })}
            />
          )}
          <RunForm
            run={run}
            action="Send"
            onSend={sendText}
            ready={text.trim() !== '' && settings !== undefined && open.length === 0}
          >
            <TextArea label="Message" hint="Ctrl+Enter sends." value={text} onChange={setText} rows={3} />
            <FileField
              key={round}
              label="Attachments"
              hint="Images, sound, video, PDF, DOCX, HTML or text, as the model can read."
              multiple
              onChange={(picked) => setFiles(picked.slice(0, mostFiles))}
              problem={files.length === mostFiles ? `At most ${mostFiles} files are sent.` : undefined}
            />
          </RunForm>
        </Card>
        <Card title="Events">
          {stream === undefined ? (
            <Empty>Each event appears here with its time.</Empty>
          ) : (
            <RawEvents stream={stream} running={run.running} />
          )}
        </Card>
      </div>
      {draft !== undefined && <Snippets call={draft} />}
    </div>
  );
};

export default Chat;
