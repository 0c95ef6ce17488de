/** A validated render that has not started yet. */
import type { Model } from '../../schemas/catalog.ts';
import type { RenderCall } from '../../src/ports/engines/render.ts';
import type { WantedMedia } from './read-video-media.ts';

export interface RenderTask {
  readonly model: Model;
  /** Where its inputs are to be read from. */
  readonly media: readonly WantedMedia[];
  /** The field with the second at which reference videos begin. */
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
