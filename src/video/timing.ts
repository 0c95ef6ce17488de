/** Computes the frames, true length and expected render time of a video. */
import type { VideoSpec } from './spec.ts';

/** Rounded up to the model's grid of frames. */
export const frameCount = ({ fps, frame_step }: VideoSpec, seconds: number): number =>
  Math.ceil((seconds * fps) / frame_step) * frame_step;

export const clipSeconds = (spec: VideoSpec, seconds: number): number => frameCount(spec, seconds) / spec.fps;

interface TimedRender {
  readonly seconds: number;
  readonly resolution: string;
  readonly references: boolean;
}

export const expectedVideoMs = (
  spec: VideoSpec,
  { seconds, resolution, references }: TimedRender,
): number => {
  const perSecond = references ? spec.render_time.references : spec.render_time.plain;
  return Math.round(seconds * perSecond * (spec.resolutions[resolution]?.time ?? 1) * 1000);
};
