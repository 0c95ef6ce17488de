/** A job in; what its call to the engine says of songs and given files out. The call is kept as any JSON. */
import type { JobRecord } from '../../schemas/jobs.ts';
import type { RenderInput } from '../ports/render.ts';

/** Outputs asked for: songs of a music job; a video is one. */
export const outputsOf = ({ call }: JobRecord): number =>
  typeof call === 'object' && call !== null && 'n' in call && typeof call.n === 'number' ? call.n : 1;

export const inputsOf = ({ call }: JobRecord): readonly RenderInput[] =>
  typeof call === 'object' && call !== null && 'inputs' in call && Array.isArray(call.inputs)
    ? call.inputs
    : [];
