/** Tests what is done with files that are not what was promised, without making any. */
import t from 'tap';
import { fitOutput } from '../../src/jobs/output-format.ts';
import type { MediaFacts } from '../../src/ports/codec.ts';
import type { MusicCall, VideoCall } from '../../src/ports/engines/render.ts';
import { musicJob, videoJob } from './harness.ts';

const clip: MediaFacts = {
  container: 'mp4',
  hasVideo: true,
  hasAudio: true,
  seconds: 6,
  width: 1344,
  height: 768,
  frames: 144,
  fps: 24,
  videoCodec: 'h264',
  pixelFormat: 'yuv420p',
  audioCodec: 'aac',
  channels: 2,
};
const video = videoJob().call as VideoCall;
const copied = ['-c:v', 'copy'];
const encoded = ['-c:v', 'libx264'];

/** Options of the conversion, or what is said against it. */
const fitted = (facts: Partial<MediaFacts>, call: Partial<VideoCall> = {}) => {
  const fitting = fitOutput({ ...video, ...call }, { ...clip, ...facts });
  return 'fault' in fitting ? fitting.fault : fitting.arguments;
};
const has = (words: unknown, part: readonly string[]): boolean => String(words).includes(part.join());

t.test('clips', async (t) => {
  t.equal(fitted({}), undefined, 'as it came');
  t.equal(fitted({ pixelFormat: 'yuvj420p' }), undefined);
  t.equal(fitted({ hasAudio: false }), undefined, 'an engine without sound');
  t.ok(has(fitted({ container: 'mov' }), copied), 'another container is only written again');
  t.ok(has(fitted({ videoCodec: 'vp9', container: 'webm', audioCodec: 'opus' }), encoded));
  t.ok(has(fitted({ pixelFormat: 'yuv444p' }), encoded));
  t.ok(has(fitted({ channels: 1 }), copied), 'sound is encoded, pictures are not');
  t.notOk(has(fitted({}, { audio: false }), ['0:a:0']), 'sound that was not wanted');
  t.equal(fitted({ hasVideo: false }), 'has no moving picture');
  const long = { videoCodec: 'mpeg4', width: 1920, height: 1080, frames: 2400 };
  t.equal(fitted(long), 'is mpeg4 and too large to be converted');
  t.equal(fitted({ ...long, videoCodec: 'h264' }), undefined, 'however long, nothing has to be encoded');
});

t.test('songs', async (t) => {
  const song: MediaFacts = {
    container: 'mp3',
    hasVideo: false,
    hasAudio: true,
    seconds: 60,
    audioCodec: 'mp3',
  };
  const fits = (facts: Partial<MediaFacts>, format: MusicCall['format']) => {
    const fitting = fitOutput(musicJob({}, { format }).call, { ...song, ...facts });
    return 'fault' in fitting ? fitting.fault : fitting.arguments;
  };
  t.equal(fits({}, 'mp3'), undefined);
  t.ok(has(fits({}, 'flac'), ['-c:a', 'flac']));
  t.ok(has(fits({ container: 'wav' }, 'wav'), ['-c:a', 'pcm_s16le']), 'MP3 in a WAV');
  t.equal(fits({ container: 'wav', audioCodec: 'pcm_f32le' }, 'wav'), undefined);
  t.ok(
    fits({ container: 'wav', audioCodec: 'pcm_s16le', openEnded: true }, 'wav'),
    'its header is rewritten',
  );
  t.equal(fits({ hasAudio: false }, 'mp3'), 'has no sound');
  t.equal(fits({ seconds: 4000 }, 'opus'), 'is mp3 and too long to be converted');
});
