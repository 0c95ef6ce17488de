/** Songs: a job with its progress; heard while it renders where the model can, then as a file. */
import { useEffect, useState } from 'preact/hooks';
import { request } from '../../api/http.ts';
import { publicApi } from '../../api/public.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Checkbox, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { Heard } from '../audio/heard.tsx';
import { readWavHead } from '../audio/pcm.ts';
import { bytesOf, joined, PcmPlayer } from '../audio/player.ts';
import type { Call } from '../call.ts';
import { Bench, type ModalityProps, numberOf, RunForm, useModel } from '../parts.tsx';
import { useObjectUrl } from '../use-object-url.ts';
import { useRun } from '../use-run.ts';
import { type Job, runJob } from './job.ts';
import { Progress } from './progress.tsx';

/** Bytes within which the samples of a WAV file must begin. */
const mostHeadBytes = 65_536;

/** Plays the stream of a song; `onPlayer` gets the player once the format is known. */
const listen = async (
  path: string,
  signal: AbortSignal,
  onPlayer: (player: PcmPlayer) => void,
): Promise<void> => {
  const response = await request(publicApi, path, { signal });
  let head: Uint8Array<ArrayBuffer> = new Uint8Array();
  let player: PcmPlayer | undefined;
  for await (const bytes of bytesOf(response)) {
    if (player !== undefined) {
      player.push(bytes);
      continue;
    }
    head = joined(head, bytes);
    const format = readWavHead(head);
    if (format === undefined) {
      if (head.length > mostHeadBytes) throw new Error('The stream is not a WAV file');
      continue;
    }
    const made = new PcmPlayer(format);
    player = made;
    signal.addEventListener('abort', () => made.close());
    onPlayer(made);
    made.push(head.slice(format.dataAt));
  }
};

const MusicPlay = ({ models }: ModalityProps) => {
  const { model, field } = useModel(models);
  const [prompt, setPrompt] = useState('A slow waltz for a rainy day');
  const [lyrics, setLyrics] = useState('');
  const [seconds, setSeconds] = useState('10');
  const [format, setFormat] = useState('mp3');
  const [live, setLive] = useState(true);
  const [job, setJob] = useState<Job>();
  const [player, setPlayer] = useState<PcmPlayer>();
  const [song, setSong] = useState<Blob>();
  const url = useObjectUrl(song);
  const run = useRun();
  useEffect(() => () => player?.close(), [player]);
  const call: Call = {
    path: '/music',
    json: {
      model: model.id,
      prompt,
      lyrics: lyrics === '' ? undefined : lyrics,
      duration: numberOf(seconds),
      response_format: format,
    },
    result: { kind: 'job', name: `song.${format}` },
  };
  const render = (): void =>
    run.start(async (signal) => {
      setJob(undefined);
      setPlayer(undefined);
      setSong(undefined);
      let listening = false;
      const rendered = await runJob(call, signal, (now) => {
        setJob(now);
        if (listening || !live || now.stream_url === undefined) return;
        listening = true;
        // The song itself is not affected if its stream fails.
        listen(`/music/${now.id}/stream`, signal, setPlayer).catch((error: unknown) => {
          if (!signal.aborted) toast(`It cannot be heard while it renders: ${error}`, 'bad');
        });
      });
      setSong(rendered);
    });
  return (
    <Bench
      call={call}
      form={
        <RunForm run={run} action="Compose" onSend={render} ready={prompt.trim() !== ''}>
          {field}
          <TextArea label="Prompt" value={prompt} onChange={setPrompt} />
          <TextArea label="Lyrics" value={lyrics} onChange={setLyrics} />
          <div class="grid">
            <TextField label="Seconds" type="number" min={1} value={seconds} onChange={setSeconds} />
            <SelectField
              label="Format"
              value={format}
              onChange={setFormat}
              options={['mp3', 'wav', 'flac', 'opus']}
            />
          </div>
          <Checkbox label="Play it while it renders" checked={live} onChange={setLive} />
        </RunForm>
      }
      result={
        job === undefined ? (
          <Empty>The job and its song appear here.</Empty>
        ) : (
          <div class="stack results">
            <Progress job={job} />
            {player !== undefined && <Heard player={player} />}
            {url !== undefined && (
              <>
                {/* biome-ignore lint/a11y/useMediaCaption: the lyrics are in the request */}
                <audio controls src={url} aria-label="The song" onPlay={() => player?.close()} />
                <div>
                  <LinkButton href={url} download={`song.${format}`}>
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

export default MusicPlay;
