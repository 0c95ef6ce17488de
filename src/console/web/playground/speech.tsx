/** Speech from text; samples are played while they arrive, files when they are complete. */
import { useEffect, useState } from 'preact/hooks';
import { LinkButton } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { SelectField, TextArea, TextField } from '../ui/field.tsx';
import { duration, money } from '../ui/format.ts';
import { Heard } from './audio/heard.tsx';
import { formatOf } from './audio/pcm.ts';
import { bytesOf, PcmPlayer } from './audio/player.ts';
import type { Call } from './call.ts';
import { Bench, Facts, type ModalityProps, numberOf, RunForm, useModel } from './parts.tsx';
import { send } from './send.ts';
import { useObjectUrl } from './use-object-url.ts';
import { useRun } from './use-run.ts';

const formats = [
  { value: 'pcm', label: 'pcm: plays while it arrives' },
  ...['mp3', 'wav', 'flac', 'opus'].map((value) => ({ value, label: value })),
];

interface Times {
  readonly firstMs?: number;
  readonly tookMs?: number;
  readonly seconds?: string | undefined;
  readonly cost?: string | undefined;
}

const SpeechPlay = ({ models }: ModalityProps) => {
  const { model, field } = useModel(models);
  const [text, setText] = useState('The gates are open, and the water rises slowly.');
  const [voice, setVoice] = useState('');
  const [format, setFormat] = useState('pcm');
  const [speed, setSpeed] = useState('');
  const [player, setPlayer] = useState<PcmPlayer>();
  const [file, setFile] = useState<Blob>();
  const [times, setTimes] = useState<Times>({});
  const url = useObjectUrl(file);
  const run = useRun();
  useEffect(() => () => player?.close(), [player]);
  const voices = (model.supported_voices ?? []).filter((name) => name !== 'design' && name !== 'clone');
  const call: Call = {
    path: '/audio/speech',
    json: {
      model: model.id,
      input: text,
      voice: voices.includes(voice) ? voice : undefined,
      response_format: format,
      speed: numberOf(speed),
    },
    result: { kind: 'file', name: `speech.${format}` },
  };
  const speak = (): void =>
    run.start(async (signal) => {
      const begun = performance.now();
      setFile(undefined);
      setPlayer(undefined);
      setTimes({});
      const response = await send(call, signal);
      const usage = {
        seconds: response.headers.get('x-usage-seconds') ?? undefined,
        cost: response.headers.get('x-usage-cost') ?? undefined,
      };
      const playing =
        format === 'pcm' ? new PcmPlayer(formatOf(response.headers.get('content-type') ?? '')) : undefined;
      setPlayer(playing);
      const stop = (): void => playing?.close();
      signal.addEventListener('abort', stop);
      const parts: Uint8Array<ArrayBuffer>[] = [];
      for await (const bytes of bytesOf(response)) {
        const firstMs = performance.now() - begun;
        setTimes((before) => (before.firstMs === undefined ? { ...usage, firstMs } : before));
        if (playing === undefined) parts.push(bytes);
        else playing.push(bytes);
      }
      const type = response.headers.get('content-type') ?? '';
      setFile(playing === undefined ? new Blob(parts, { type }) : playing.file());
      setTimes((before) => ({ ...before, tookMs: performance.now() - begun }));
    });
  return (
    <Bench
      call={call}
      form={
        <RunForm run={run} action="Speak" onSend={speak} ready={text.trim() !== ''}>
          {field}
          <TextArea label="Text" value={text} onChange={setText} />
          <div class="grid">
            <SelectField
              label="Voice"
              value={voice}
              onChange={setVoice}
              options={[{ value: '', label: 'the first' }, ...voices]}
            />
            <SelectField label="Format" value={format} onChange={setFormat} options={formats} />
            <TextField
              label="Speed"
              type="number"
              min={0.25}
              max={4}
              step={0.05}
              value={speed}
              onChange={setSpeed}
            />
          </div>
        </RunForm>
      }
      result={
        times.firstMs === undefined ? (
          <Empty>It is played here.</Empty>
        ) : (
          <div class="stack results">
            <Facts
              of={{
                'First sound': duration(times.firstMs),
                Complete: times.tookMs === undefined ? undefined : duration(times.tookMs),
                'Billed seconds': times.seconds,
                Cost: times.cost === undefined ? undefined : money(times.cost),
              }}
            />
            {player !== undefined && <Heard player={player} />}
            {url !== undefined && (
              <>
                {/* biome-ignore lint/a11y/useMediaCaption: the text is in the request */}
                <audio controls src={url} autoplay={player === undefined} aria-label="The speech" />
                <div>
                  <LinkButton href={url} download={`speech.${format === 'pcm' ? 'wav' : format}`}>
                    Save
                  </LinkButton>
                </div>
              </>
            )}
          </div>
        )
      }
    />
  );
};

export default SpeechPlay;
