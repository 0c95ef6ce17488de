/** Examples of video and music jobs. */

const base = 'https://gateway.example/v1';
const videoId = 'video_bce302be6b1f1ed648e29c60';
const musicId = 'music_45fd76ca0bbad186bdc5da86';

const pendingVideo = {
  id: videoId,
  object: 'video',
  model: 'sluice/video',
  status: 'pending',
  polling_url: `${base}/videos/${videoId}`,
  progress: 0,
  queue_position: 0,
  created_at: 1794733465,
  started_at: null,
  completed_at: null,
  expires_at: null,
  prompt: 'A lighthouse in a storm',
  seed: 7,
  seconds: '4',
  duration: 4,
  size: '768x768',
  resolution: '768p',
  aspect_ratio: '1:1',
  quality: 'turbo',
  num_inference_steps: 4,
  generate_audio: true,
  remixed_from_video_id: null,
  generation_id: videoId,
};

const { queue_position: _, ...startedVideo } = pendingVideo;

const completedVideo = {
  ...startedVideo,
  status: 'completed',
  progress: 100,
  started_at: 1794733466,
  completed_at: 1794733478,
  expires_at: 1794819878,
  output: { duration: 4.375, width: 768, height: 768, fps: 24, audio: true },
  unsigned_urls: [`${base}/videos/${videoId}/content?index=0`],
  usage: { billed_seconds: 4, cost: 0.16, is_byok: false },
};

const failedVideo = {
  ...startedVideo,
  status: 'failed',
  progress: 40,
  started_at: 1794733466,
  error: 'The render failed',
  error_code: 'render_failed',
};

const pendingSong = {
  id: musicId,
  object: 'music',
  model: 'sluice/music',
  status: 'pending',
  polling_url: `${base}/music/${musicId}`,
  progress: 0,
  queue_position: 0,
  created_at: 1794732178,
  started_at: null,
  completed_at: null,
  expires_at: null,
  prompt: 'Slow waltz for a rainy day',
  duration: 30,
  response_format: 'mp3',
  n: 1,
  seed: 937259769,
  stream_url: `${base}/music/${musicId}/stream`,
};

const { queue_position: __, stream_url: ___, ...endedSong } = pendingSong;
const songUrl = `${base}/music/${musicId}/content?index=0`;

const completedSong = {
  ...endedSong,
  status: 'completed',
  progress: 100,
  started_at: 1794732179,
  completed_at: 1794732195,
  expires_at: 1794818595,
  outputs: [{ index: 0, url: songUrl, duration: 29.6, media_type: 'audio/mpeg', size_bytes: 474_112 }],
  unsigned_urls: [songUrl],
  usage: { billed_seconds: 30, cost: 0.06, is_byok: false },
};

const page = <Job extends { readonly id: string }>(job: Job) => ({
  object: 'list',
  data: [job],
  first_id: job.id,
  last_id: job.id,
  has_more: false,
});

const json = (examples: Readonly<Record<string, unknown>>) => ({ 'application/json': examples });

export const createVideoExamples = {
  request: {
    ...json({
      'A prompt': { model: 'sluice/video', prompt: 'A lighthouse in a storm', duration: 4, size: '768x768' },
      'A first frame, and a webhook': {
        model: 'sluice/video',
        prompt: 'The storm gets closer',
        frame_images: [
          {
            type: 'image_url',
            image_url: { url: 'https://example.com/lighthouse.png' },
            frame_type: 'first_frame',
          },
        ],
        quality: 'standard',
        callback_url: 'https://example.com/hooks/video',
      },
    }),
    'multipart/form-data': {
      'An uploaded first frame': {
        model: 'sluice/video',
        prompt: 'The storm gets closer',
        seconds: '4',
        input_reference: '(bytes of lighthouse.png)',
      },
    },
  },
  response: json({ 'A new job': pendingVideo }),
};

export const videoExamples = {
  list: { response: json({ 'One job': page(completedVideo) }) },
  get: { response: json({ Pending: pendingVideo, Completed: completedVideo, Failed: failedVideo }) },
  remove: {
    response: json({
      Deleted: { id: videoId, object: 'video.deleted', deleted: true },
      Cancelled: { ...startedVideo, status: 'cancelled' },
    }),
  },
  models: {
    response: json({
      'One model': {
        data: [
          {
            id: 'sluice/video',
            canonical_slug: 'sluice/video',
            name: 'Video',
            description: 'Short videos with sound.',
            created: 1767225600,
            seed: true,
            pricing_skus: { second: '0.04' },
            allowed_passthrough_parameters: ['quality', 'num_inference_steps', 'start_time_seconds'],
            supported_resolutions: ['768p', '2K'],
            supported_aspect_ratios: ['16:9', '9:16', '1:1'],
            supported_sizes: ['1344x768', '768x1344', '768x768'],
            supported_durations: [4, 5, 6, 7, 8],
            supported_frame_images: ['first_frame', 'last_frame'],
            generate_audio: true,
            creativity: null,
            upscale_factor: null,
          },
        ],
      },
    }),
  },
};

export const createMusicExamples = {
  request: json({
    'A description': { model: 'sluice/music', prompt: 'Slow waltz for a rainy day', duration: 30 },
    'With words': {
      model: 'sluice/music',
      prompt: 'Sea shanty, two voices',
      lyrics: 'The tide comes in, the tide goes out',
      response_format: 'flac',
    },
  }),
  response: json({ 'A new job': pendingSong }),
};

export const musicExamples = {
  list: { response: json({ 'One job': page(completedSong) }) },
  get: { response: json({ Pending: pendingSong, Completed: completedSong }) },
  remove: {
    response: json({
      Deleted: { id: musicId, object: 'music.deleted', deleted: true },
      Cancelled: { ...endedSong, status: 'cancelled' },
    }),
  },
  models: {
    response: json({
      'One model': {
        data: [
          {
            id: 'sluice/music',
            canonical_slug: 'sluice/music',
            name: 'Music',
            description: 'Songs from a description and lyrics; can be heard while they render.',
            created: 1767225600,
            seed: true,
            pricing_skus: { second: '0.002' },
            allowed_passthrough_parameters: ['lyrics', 'duration', 'response_format', 'n', 'seed'],
            supported_durations: { min: 5, max: 240, default: 60 },
            supported_response_formats: ['mp3', 'wav', 'flac', 'opus'],
            lyrics: true,
            streaming: { progressive: true, sample_rate: 32_000, channels: 2 },
          },
        ],
      },
    }),
  },
};
