/** The kinds of models one can try, each loaded when it is first shown. */
import type { ComponentType } from 'preact';
import type { ModalityProps } from './parts.tsx';

export interface Modality {
  readonly id: string;
  readonly title: string;
  /** Of the models in the catalog. */
  readonly kind: string;
  readonly load: () => Promise<{ readonly default: ComponentType<ModalityProps> }>;
}

export const modalities: readonly Modality[] = [
  { id: 'chat', title: 'Chat', kind: 'chat', load: () => import('./chat/chat.tsx') },
  { id: 'images', title: 'Images', kind: 'image', load: () => import('./images.tsx') },
  { id: 'speech', title: 'Speech', kind: 'speech', load: () => import('./speech.tsx') },
  {
    ...{ id: 'transcription', title: 'Transcription', kind: 'transcription' },
    load: () => import('./transcription.tsx'),
  },
  { id: 'video', title: 'Video', kind: 'video', load: () => import('./jobs/video.tsx') },
  { id: 'music', title: 'Music', kind: 'music', load: () => import('./jobs/music.tsx') },
  { id: 'embeddings', title: 'Embeddings', kind: 'embeddings', load: () => import('./embeddings.tsx') },
  { id: 'rerank', title: 'Rerank', kind: 'rerank', load: () => import('./rerank.tsx') },
  { id: 'decisions', title: 'Decisions', kind: 'decisions', load: () => import('./decisions.tsx') },
  { id: 'stores', title: 'Vector stores', kind: 'embeddings', load: () => import('./stores/stores.tsx') },
];
