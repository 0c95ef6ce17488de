/** Videos: a job with its progress, then the clip. */
import { useState } from 'preact/hooks';
import { LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FileField, TextArea, TextField } from '../../ui/field.tsx';
import { type Call, dataUri } from '../call.ts';
import { Bench, type ModalityProps, numberOf, RunForm, useModel } from '../parts.tsx';
import { useObjectUrl } from '../use-object-url.ts';
import { useRun } from '../use-run.ts';
import { type Job, runJob } from './job.ts';
import { Progress } from './progress.tsx';

const VideoPlay = ({ models }: ModalityProps) => {
  const { model, field } = useModel(models);
  const [prompt, setPrompt] = useState('A paper boat in the rain');
  const [seconds, setSeconds] = useState('4');
  const [size, setSize] = useState('768x768');
  const [seed, setSeed] = useState('');
  const [frame, setFrame] = useState<File>();
  const [job, setJob] = useState<Job>();
  const [clip, setClip] = useState<Blob>();
  const url = useObjectUrl(clip);
  const run = useRun();
  const takesFrames = model.supported_parameters.includes('frame_images');
  const call: Call = {
    path: '/videos',
    json: {
      model: model.id,
      prompt,
      duration: numberOf(seconds),
      size: size.trim() === '' ? undefined : size.trim(),
      seed: numberOf(seed),
      frame_images:
        takesFrames && frame !== undefined
          ? [{ type: 'image_url', image_url: { url: dataUri(frame) }, frame_type: 'first_frame' }]
          : undefined,
    },
    result: { kind: 'job', name: 'video.mp4' },
  };
  const render = (): void =>
    run.start(async (signal) => {
      setJob(undefined);
      setClip(undefined);
      setClip(await runJob(call, signal, setJob));
    });
  return (
    <Bench
      call={call}
      form={
        <RunForm run={run} action="Render" onSend={render} ready={prompt.trim() !== ''}>
          {field}
          <TextArea label="Prompt" value={prompt} onChange={setPrompt} />
          <div class="grid">
            <TextField label="Seconds" type="number" min={1} value={seconds} onChange={setSeconds} />
            <TextField label="Size" value={size} onChange={setSize} />
            <TextField label="Seed" type="number" step={1} value={seed} onChange={setSeed} />
          </div>
          {takesFrames && (
            <FileField label="First frame" accept="image/*" onChange={([first]) => setFrame(first)} />
          )}
        </RunForm>
      }
      result={
        job === undefined ? (
          <Empty>The job and its clip appear here.</Empty>
        ) : (
          <div class="stack results">
            <Progress job={job} />
            {url !== undefined && (
              <>
                {/* biome-ignore lint/a11y/useMediaCaption: nobody knows what is said in it */}
                <video controls src={url} aria-label="The clip" />
                <div>
                  <LinkButton href={url} download="video.mp4">
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

export default VideoPlay;
