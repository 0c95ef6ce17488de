/** Reads the settings of an S3 store from the environment. */
import { ConfigError, type Environment, flag, text, url } from '../../environment.ts';
import type { S3Settings } from './s3-client.ts';

/** Undefined: no store is named. */
export const s3Settings = (env: Environment): S3Settings | undefined => {
  const endpoint = url(env, 'S3_ENDPOINT', ['http:', 'https:']);
  const bucket = text(env, 'S3_BUCKET');
  if (endpoint === undefined && bucket === undefined) return undefined;
  const region = text(env, 'S3_REGION') ?? 'us-east-1';
  const [accessKeyId, secretAccessKey] = [text(env, 'S3_ACCESS_KEY_ID'), text(env, 'S3_SECRET_ACCESS_KEY')];
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError(
      'S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together, with S3_ENDPOINT for any store but AWS',
    );
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new ConfigError(`S3_BUCKET must be the name of a bucket, not "${bucket}"`);
  const prefix = text(env, 'S3_PREFIX') ?? '';
  if (!/^(?:[\w-][\w.-]*\/)*$/.test(prefix) || prefix.length > 200)
    throw new ConfigError(
      'S3_PREFIX must be letters, digits, dots, dashes and underscores, ending in a slash',
    );
  return {
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    publicEndpoint: url(env, 'S3_PUBLIC_ENDPOINT', ['http:', 'https:']),
    bucket,
    prefix,
    region,
    accessKeyId,
    secretAccessKey,
    pathStyle: text(env, 'S3_PATH_STYLE') === undefined ? endpoint !== undefined : flag(env, 'S3_PATH_STYLE'),
  };
};
