/** Text from a recording: a file, or the microphone. */
import { useState } from 'preact/hooks';
import { readEvents } from '../api/sse.ts';
import { Empty } from '../ui/empty.tsx';
import { FileField, TextField } from '../ui/field.tsx';
import { duration, money } from '../ui/format.ts';
import { Recorder } from './audio/recorder.tsx';
import type { Call } from './call.ts';
import { Announcer } from './chat/conversation-view.tsx';
import { Bench, Facts, type ModalityProps, RunForm, useModel } from './parts.tsx';
import { send } from './send.ts';
import { useFrames } from './use-frames.ts';
import { useObjectUrl } from './use-object-url.ts';
import { useRun } from './use-run.ts';

interface TranscriptEvent {
  readonly type: string;
  readonly delta?: string;
  readonly text?: string;
  readonly usage?: { readonly seconds: number; readonly cost: number };
  readonly error?: { readonly message: string };
}

interface Transcript {
  text: string;
  firstMs?: number;
  tookMs?: number;
  usage?: TranscriptEvent['usage'];
}

const example = { name: 'recording.mp3', type: 'audio/mpeg' };

const TranscriptionPlay = ({ models }: ModalityProps) => {
  const { model, field } = useModel(models);
  const [file, setFile] = useState<File>();
  const [language, setLanguage] = useState('');
  const [prompt, setPrompt] = useState('');
  const [shown, setShown] = useState<Transcript>();
  const url = useObjectUrl(file);
  const changed = useFrames();
  const run = useRun();
  const call: Call = {
    path: '/audio/transcriptions',
    form: [
      ['model', model.id],
      ...(language === '' ? [] : [['language', language] as const]),
      ...(prompt === '' ? [] : [['prompt', prompt] as const]),
      ['stream', 'true'],
      ['file', file ?? example],
    ],
    result: { kind: 'events' },
  };
  const transcribe = (): void =>
    run.start(async (signal) => {
      const begun = performance.now();
      const transcript: Transcript = { text: '' };
      setShown(transcript);
      const response = await send(call, signal);
      for await (const { data, at } of readEvents(response)) {
        if (data === '[DONE]') continue;
        const event = JSON.parse(data) as TranscriptEvent;
        if (event.error !== undefined) throw new Error(event.error.message);
        if (event.delta !== undefined) {
          transcript.firstMs ??= at - begun;
          transcript.text += event.delta;
        }
        if (event.type === 'transcript.text.done') {
          transcript.text = event.text ?? transcript.text;
          transcript.usage = event.usage;
          transcript.tookMs = at - begun;
        }
        changed();
      }
    });
  return (
    <Bench
      call={call}
      form={
        <RunForm run={run} action="Transcribe" onSend={transcribe} ready={file !== undefined}>
          {field}
          <FileField label="Recording" accept="audio/*,video/webm" onChange={([first]) => setFile(first)} />
          <Recorder onRecorded={setFile} />
          {url !== undefined && file !== undefined && (
            <div class="stack tight results">
              <span>{file.name}</span>
              {/* biome-ignore lint/a11y/useMediaCaption: its text is what is asked for */}
              <audio controls src={url} aria-label="The recording" />
            </div>
          )}
          <div class="grid">
            <TextField label="Language" value={language} onChange={setLanguage} placeholder="en" />
            <TextField label="Hints" value={prompt} onChange={setPrompt} placeholder="names and terms" />
          </div>
        </RunForm>
      }
      result={
        shown === undefined ? (
          <Empty>The text appears here while it is recognized.</Empty>
        ) : (
          <div class="stack">
            <Facts
              of={{
                'First words': shown.firstMs === undefined ? undefined : duration(shown.firstMs),
                Complete: shown.tookMs === undefined ? undefined : duration(shown.tookMs),
                Seconds: shown.usage && String(shown.usage.seconds),
                Cost: shown.usage && money(shown.usage.cost),
              }}
            />
            <p class="text-result">{shown.text}</p>
            <Announcer text={shown.text} />
          </div>
        )
      }
    />
  );
};

export default TranscriptionPlay;
