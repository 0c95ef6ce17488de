/** A question to a chat model that is given the passages of a store. */
import { useState } from 'preact/hooks';
import { TextField } from '../../ui/field.tsx';
import type { Call } from '../call.ts';
import { chatCompletions } from '../chat/chat-completions.ts';
import { Announcer } from '../chat/conversation-view.tsx';
import { Stream } from '../chat/stream.ts';
import { StreamFacts } from '../chat/stream-view.tsx';
import { type ModalityProps, RunForm, useModel } from '../parts.tsx';
import { useFrames } from '../use-frames.ts';
import { useRun } from '../use-run.ts';
import { Passages } from './passages.tsx';

export const Ask = ({
  store,
  models,
  onCall,
}: Pick<ModalityProps, 'models'> & {
  readonly store: string;
  readonly onCall: (call: Call) => void;
}) => {
  const { model, field } = useModel(models);
  const [question, setQuestion] = useState('');
  const [stream, setStream] = useState<Stream>();
  const run = useRun();
  const changed = useFrames();
  const ask = (): void => {
    const call: Call = {
      path: '/chat/completions/RAG',
      json: {
        model: model.id,
        collection: store,
        messages: [{ role: 'user', content: question }],
        stream: true,
      },
      result: { kind: 'events' },
    };
    const next = new Stream();
    onCall(call);
    setStream(next);
    run.start((signal) => next.run(call, chatCompletions.read, signal, changed));
  };
  return (
    <>
      <RunForm run={run} action="Ask" onSend={ask} ready={question.trim() !== ''}>
        {field}
        <TextField label="Question" value={question} onChange={setQuestion} />
      </RunForm>
      {stream !== undefined && (
        <>
          {stream.answer.context !== undefined && (
            <>
              <h3>Passages used</h3>
              <Passages label="Passages used" passages={stream.answer.context} />
            </>
          )}
          {stream.answer.text !== '' && <p class="text-result">{stream.answer.text}</p>}
          <Announcer text={stream.answer.text} />
          <StreamFacts stream={stream} model={model} />
        </>
      )}
    </>
  );
};
