/** A render that was asked for, checked but not begun: what both kinds of jobs are made of. */
import type { Model } from '../../schemas/catalog.ts';
import type { RenderCall } from '../../src/ports/render.ts';
import type { WantedMedia } from './read-video-media.ts';

export interface RenderTask {
  readonly model: Model;
  /** What its inputs are to be read from. */
  readonly media: readonly WantedMedia[];
  /** Where the request says at which second reference videos begin. */
  readonly startTimeField: string;
  /** Without inputs yet. */
  readonly call: RenderCall;
  /** What the job's record shows of the request. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly billedSeconds: number;
  readonly expectedMs: number;
  readonly progressive: boolean;
  readonly callbackUrl: string | undefined;
}
