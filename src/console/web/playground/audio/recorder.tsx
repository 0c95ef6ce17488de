/** Records from the microphone. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

/** Seconds after which a recording ends by itself. */
const mostSeconds = 300;

export const Recorder = ({ onRecorded }: { readonly onRecorded: (file: File) => void }) => {
  const [recorder, setRecorder] = useState<MediaRecorder>();
  const [failure, setFailure] = useState<unknown>();
  const stop = useRef<() => void>(() => {});
  useEffect(() => () => stop.current(), []);
  if (typeof MediaRecorder === 'undefined') return null;
  const start = async (): Promise<void> => {
    setFailure(undefined);
    try {
      // Browsers have it on https and localhost only.
      if (navigator.mediaDevices === undefined)
        throw new Error('The browser allows recording on https only.');
      const source = await navigator.mediaDevices.getUserMedia({ audio: true });
      const made = new MediaRecorder(source);
      const parts: Blob[] = [];
      made.addEventListener('dataavailable', ({ data }) => parts.push(data));
      made.addEventListener('stop', () => {
        clearTimeout(timer);
        for (const track of source.getTracks()) track.stop();
        setRecorder(undefined);
        const extension = made.mimeType.includes('mp4')
          ? 'm4a'
          : made.mimeType.includes('ogg')
            ? 'ogg'
            : 'webm';
        onRecorded(new File(parts, `recording.${extension}`, { type: made.mimeType }));
      });
      stop.current = () => made.state !== 'inactive' && made.stop();
      const timer = setTimeout(stop.current, mostSeconds * 1000);
      made.start();
      setRecorder(made);
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <div class="stack tight">
      <div class="row">
        {recorder === undefined ? (
          <Button onClick={() => void start()}>Record from the microphone</Button>
        ) : (
          <Button kind="danger" onClick={() => stop.current()}>
            Stop recording
          </Button>
        )}
        <span class="muted" role="status">
          {recorder === undefined ? '' : 'Recording …'}
        </span>
      </div>
      {failure !== undefined && <ErrorNote error={failure} />}
    </div>
  );
};
