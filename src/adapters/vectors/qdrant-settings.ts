/** Reads the settings of Qdrant from the environment. */
import { ConfigError, type Environment, integer, text, url } from '../../environment.ts';

/** Replicas that a read asks, and how many of them must agree; a number: that many must. */
export type ReadConsistency = number | 'majority' | 'quorum' | 'all';

/** Of collections that are created; undefined: as the server is configured. */
export interface QdrantCluster {
  readonly shards?: number | undefined;
  readonly replicas?: number | undefined;
  /** Replicas that must have a write before it is acknowledged. */
  readonly writeConsistency?: number | undefined;
}

export interface QdrantSettings extends QdrantCluster {
  readonly url: string;
  readonly key: string | undefined;
  readonly readConsistency: ReadConsistency | undefined;
}

const mostShards = 256;
const mostReplicas = 16;
const agreements = ['majority', 'quorum', 'all'] as const;

/** Undefined: vectors are embedded. */
export const qdrantSettings = (env: Environment): QdrantSettings | undefined => {
  const address = url(env, 'QDRANT_URL', ['http:', 'https:']);
  const replicas = optional(env, 'QDRANT_REPLICAS', mostReplicas);
  const settings = {
    key: apiKey(env),
    shards: optional(env, 'QDRANT_SHARDS', mostShards),
    replicas,
    // More would never be reached.
    writeConsistency: optional(env, 'QDRANT_WRITE_CONSISTENCY', replicas ?? mostReplicas),
    readConsistency: readConsistency(env),
  };
  return address === undefined ? undefined : { url: address, ...settings };
};

const optional = (env: Environment, name: string, most: number): number | undefined =>
  text(env, name) === undefined ? undefined : integer(env, name, 1, 1, most);

const apiKey = (env: Environment): string | undefined => {
  const key = text(env, 'QDRANT_API_KEY');
  if (key !== undefined && !/^[\x21-\x7e]{1,4096}$/.test(key))
    throw new ConfigError('QDRANT_API_KEY must be at most 4096 visible ASCII characters without spaces');
  return key;
};

const readConsistency = (env: Environment): ReadConsistency | undefined => {
  const value = text(env, 'QDRANT_READ_CONSISTENCY');
  const agreement = agreements.find((each) => each === value);
  if (value === undefined || agreement !== undefined) return agreement;
  if (!/^(?:[1-9]|1[0-6])$/.test(value))
    throw new ConfigError(
      `QDRANT_READ_CONSISTENCY must be ${agreements.join(', ')} or a whole number from 1 to ${mostReplicas}, not "${value}"`,
    );
  return Number(value);
};
