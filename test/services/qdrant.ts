/** A Qdrant for tests: `QDRANT_URL`, or the local mode of `qdrant-client` behind an HTTP server. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { notAskedFor, servicesFolder } from './child.ts';
import { type FrontService, foreign, startFront } from './front.ts';

const python = join(servicesFolder, 'qdrant', 'bin', 'python');

/** Why there is no Qdrant to test with; undefined when there is one. */
export const qdrantMissing = ({ own = false } = {}): string | undefined => {
  if (!own && shared() !== undefined) return undefined;
  const excuse = notAskedFor();
  if (excuse !== undefined) return excuse;
  return existsSync(python)
    ? undefined
    : `no Qdrant: test/services/fetch gets one${own ? '' : ', or set QDRANT_URL'}`;
};

export const startQdrant = async ({ own = false } = {}): Promise<FrontService> => {
  const url = shared();
  if (url !== undefined && !own) return foreign(url);
  return startFront({ name: 'qdrant', python, script: 'qdrant-front.py', ping: '/' });
};

const shared = (): string | undefined => process.env.QDRANT_URL || undefined;
