/** What models of video and music render. */
import Type, { type Static } from 'typebox';
import { Closed } from './shapes.ts';

const Whole = Type.Integer({ minimum: 1 });
const Times = Type.Number({ exclusiveMinimum: 0 });

/** Seconds that may be requested. */
const Durations = Closed({ min: Whole, max: Whole, default: Whole });

/** One way to render: how many steps, and how many times the price of a second. */
const VideoTier = Closed({
  steps: Whole,
  /** Where reference media guide the picture. */
  reference_steps: Type.Optional(Whole),
  price: Times,
});

const VideoResolution = Closed({
  /** `WxH` by aspect ratio, the default ratio first; every resolution has the same ratios. */
  sizes: Type.Record(
    Type.String({ pattern: '^[1-9][0-9]?:[1-9][0-9]?$' }),
    Type.String({
      pattern: '^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$',
      description: 'a width and a height such as 1344x768',
    }),
  ),
  /** Rendered at half the size and then enlarged, on the turbo schedule only. */
  enlarged: Type.Optional(Type.Boolean()),
  /** How many times a second costs, and how many times as long it takes; once by default. */
  price: Type.Optional(Times),
  time: Type.Optional(Times),
});

/** What a video model renders. Without it, or where it contradicts itself, the model is not served. */
export const VideoCapabilities = Closed({
  duration: Durations,
  /** By name, the default first. */
  resolutions: Type.Record(Type.String({ pattern: '^[A-Za-z0-9.]{1,16}$' }), VideoResolution),
  fps: Whole,
  /** The frames of a clip are a multiple of this: its length is rounded up to it. */
  frame_step: Whole,
  tiers: Closed({ turbo: VideoTier, standard: Type.Optional(VideoTier), max: Type.Optional(VideoTier) }),
  /** Steps that may be requested by number; from `base` on the base model runs, a second of which costs steps / `per_price`. */
  steps: Closed({ min: Whole, max: Whole, base: Whole, per_price: Whole }),
  frame_images: Type.Array(Type.Enum(['first_frame', 'last_frame'])),
  /** Most reference media of each kind, and in all; absent: it takes none. */
  references: Type.Optional(
    Closed({
      images: Type.Integer({ minimum: 0 }),
      videos: Type.Integer({ minimum: 0 }),
      audio: Type.Integer({ minimum: 0 }),
      total: Whole,
    }),
  ),
  /** Seconds that a second of video takes to render. */
  render_time: Closed({ plain: Times, references: Times }),
  /** Parameters of the engine's `/videos`: as OpenAI's, in JSON, by default; `vllm`: the form of vLLM-Omni. */
  asked_by: Type.Optional(Type.Enum(['openai', 'vllm'])),
});
export type VideoCapabilities = Static<typeof VideoCapabilities>;

/** What a music model renders. Without it, or where it contradicts itself, the model is not served. */
export const MusicCapabilities = Closed({
  duration: Durations,
  /** The default first. */
  formats: Type.Array(Type.Enum(['mp3', 'wav', 'flac', 'opus']), { minItems: 1, uniqueItems: true }),
  /** Songs of one request. */
  max_outputs: Whole,
  /** Most characters of lyrics; absent: it takes none. */
  max_lyrics: Type.Optional(Whole),
  /** Whether a song can be played while it renders, and the layout of its samples. */
  streaming: Closed({
    progressive: Type.Boolean(),
    sample_rate: Whole,
    channels: Type.Integer({ minimum: 1, maximum: 2 }),
  }),
  /** Seconds that a second of music takes to render. */
  render_time: Times,
});
export type MusicCapabilities = Static<typeof MusicCapabilities>;
