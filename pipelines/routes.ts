/** The one table of routes: the rows of every API family. */
import type { Ports } from '../src/ports/ports.ts';
import { accountRoutes } from './account/routes.ts';
import { audioRoutes } from './audio/routes.ts';
import { chatRoutes } from './chat/routes.ts';
import { completionsRoutes } from './completions/routes.ts';
import { decisionsRoutes } from './decisions/routes.ts';
import { embeddingsRoutes } from './embeddings/routes.ts';
import { imagesRoutes } from './images/routes.ts';
import { jobsRoutes } from './jobs/routes.ts';
import { messagesRoutes } from './messages/routes.ts';
import { modelsRoutes } from './models/routes.ts';
import { rerankRoutes } from './rerank/routes.ts';
import { responsesRoutes } from './responses/routes.ts';
import type { Route } from './route.ts';
import { streamsRoutes } from './streams/routes.ts';
import { tokenizeRoutes } from './tokenize/routes.ts';
import { vectorStoreRoutes } from './vector-stores/routes.ts';

export const routes = (ports: Ports): readonly Route[] => {
  const table: readonly Route[] = [
    ...modelsRoutes(ports),
    ...chatRoutes(ports),
    ...completionsRoutes(ports),
    ...messagesRoutes(ports),
    ...responsesRoutes(ports),
    ...streamsRoutes(ports),
    ...embeddingsRoutes(ports),
    ...imagesRoutes(ports),
    ...decisionsRoutes(ports),
    ...rerankRoutes(ports),
    ...tokenizeRoutes(ports),
    ...jobsRoutes(ports),
    ...audioRoutes(ports),
    ...vectorStoreRoutes(ports),
    ...accountRoutes(ports, () => table),
  ];
  return table;
};
