/** A speech model in; every word that `voice` may be out: its speakers, the default one first, and what it can make of a description or a clip. */
import type { Model } from '../../schemas/catalog.ts';

export interface Voice {
  readonly id: string;
  readonly kind: 'builtin' | 'design' | 'clone';
}

export const voicesOf = ({ voices = [], capabilities }: Model): readonly Voice[] => [
  ...voices.map((id): Voice => ({ id, kind: 'builtin' })),
  ...(capabilities?.speech?.design === true ? [{ id: 'design', kind: 'design' } as const] : []),
  ...(capabilities?.speech?.clone === true ? [{ id: 'clone', kind: 'clone' } as const] : []),
];
