/** What models of video and music render. */
import Type, { type Static } from 'typebox';
import { Closed, Described } from './shapes.ts';

const Whole = Type.Integer({ minimum: 1 });
const Times = Type.Number({ exclusiveMinimum: 0 });

/** Seconds that may be requested. */
const Durations = Closed({ min: Whole, max: Whole, default: Whole });

/** One way to render: how many steps, and how many times the price of a second. */
const VideoTier = Closed({
  steps: Whole,
  reference_steps: Described(Type.Optional(Whole), 'Where reference media guide the picture'),
  price: Times,
});

const VideoResolution = Closed({
  sizes: Described(
    Type.Record(
      Type.String({ pattern: '^[1-9][0-9]?:[1-9][0-9]?$' }),
      Type.String({
        pattern: '^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$',
        expected: 'a width and a height such as 1344x768',
      }),
    ),
    '`WxH` by aspect ratio, the default ratio first; every resolution has the same ratios',
  ),
  enlarged: Described(
    Type.Optional(Type.Boolean()),
    'Rendered at half the size and then enlarged, on the turbo schedule only',
  ),
  price: Described(
    Type.Optional(Times),
    'How many times a second costs, and how many times as long it takes; once by default',
  ),
  time: Type.Optional(Times),
});

/** What a video model renders. Without it, or where it contradicts itself, the model is not served. */
export const VideoCapabilities = Closed({
  duration: Durations,
  resolutions: Described(
    Type.Record(Type.String({ pattern: '^[A-Za-z0-9.]{1,16}$' }), VideoResolution),
    'By name, the default first',
  ),
  fps: Whole,
  frame_step: Described(Whole, 'The frames of a clip are a multiple of this: its length is rounded up to it'),
  tiers: Closed({ turbo: VideoTier, standard: Type.Optional(VideoTier), max: Type.Optional(VideoTier) }),
  steps: Described(
    Closed({ min: Whole, max: Whole, base: Whole, per_price: Whole }),
    'Steps that may be requested by number; from `base` on the base model runs, a second of which costs steps / `per_price`',
  ),
  frame_images: Type.Array(Type.Enum(['first_frame', 'last_frame'])),
  references: Described(
    Type.Optional(
      Closed({
        images: Type.Integer({ minimum: 0 }),
        videos: Type.Integer({ minimum: 0 }),
        audio: Type.Integer({ minimum: 0 }),
        total: Whole,
      }),
    ),
    'Most reference media of each kind, and in all; absent: it takes none',
  ),
  render_time: Described(
    Closed({ plain: Times, references: Times }),
    'Seconds that a second of video takes to render',
  ),
  asked_by: Described(
    Type.Optional(Type.Enum(['openai', 'vllm'])),
    "Parameters of the engine's `/videos`: as OpenAI's, in JSON, by default; `vllm`: the form of vLLM-Omni",
  ),
});
export type VideoCapabilities = Static<typeof VideoCapabilities>;

/** What a music model renders. Without it, or where it contradicts itself, the model is not served. */
export const MusicCapabilities = Closed({
  duration: Durations,
  formats: Described(
    Type.Array(Type.Enum(['mp3', 'wav', 'flac', 'opus']), { minItems: 1, uniqueItems: true }),
    'The default first',
  ),
  max_outputs: Described(Whole, 'Songs of one request'),
  max_lyrics: Described(Type.Optional(Whole), 'Most characters of lyrics; absent: it takes none'),
  streaming: Described(
    Closed({
      progressive: Type.Boolean(),
      sample_rate: Whole,
      channels: Type.Integer({ minimum: 1, maximum: 2 }),
    }),
    'Whether a song can be played while it renders, and the layout of its samples',
  ),
  render_time: Described(Times, 'Seconds that a second of music takes to render'),
});
export type MusicCapabilities = Static<typeof MusicCapabilities>;
