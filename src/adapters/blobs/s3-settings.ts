/** The settings of an S3 store, as read from the environment. */
import { existsSync } from 'node:fs';
import { ConfigError, type Environment, flag, integer, oneOf, text, url } from '../../environment.ts';
import type { Credentials, WebIdentity } from './s3-credentials.ts';

export interface S3Settings {
  /** `https://s3.eu-central-1.amazonaws.com`, `http://minio:9000` … */
  readonly endpoint: string;
  /** Where clients reach the same store; links start with it. Undefined: the endpoint. */
  readonly publicEndpoint: string | undefined;
  readonly bucket: string;
  /** What every key begins with: empty, or ending in a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly credentials: Credentials | WebIdentity;
  /** Of every object that is written; undefined: as the bucket is configured. */
  readonly encryption?: Encryption | undefined;
  /** The bucket stands in the path, and not in the host's name. */
  readonly pathStyle: boolean;
}

/** By the store, with its own keys or with one of its key management service. */
export interface Encryption {
  readonly method: 'AES256' | 'aws:kms';
  readonly keyId: string | undefined;
}

/** Of the links that clients get. */
export const linkOrigin = ({ publicEndpoint, endpoint, bucket, pathStyle }: S3Settings): string => {
  const { protocol, host } = new URL(publicEndpoint ?? endpoint);
  return `${protocol}//${pathStyle ? '' : `${bucket}.`}${host}`;
};

/** Undefined: no store is named. */
export const s3Settings = (env: Environment): S3Settings | undefined => {
  const endpoint = url(env, 'S3_ENDPOINT', ['http:', 'https:']);
  const bucket = text(env, 'S3_BUCKET');
  if (endpoint === undefined && bucket === undefined) return undefined;
  const region = text(env, 'S3_REGION') ?? 'us-east-1';
  const credentials = keys(env) ?? webIdentity(env, region);
  if (bucket === undefined || credentials === undefined)
    throw new ConfigError(
      'S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together, with S3_ENDPOINT for any store but AWS; AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN may stand for the keys',
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
    credentials,
    encryption: encryption(env),
    pathStyle: text(env, 'S3_PATH_STYLE') === undefined ? endpoint !== undefined : flag(env, 'S3_PATH_STYLE'),
  };
};

const keys = (env: Environment): Credentials | undefined => {
  const [accessKeyId, secretAccessKey] = [text(env, 'S3_ACCESS_KEY_ID'), text(env, 'S3_SECRET_ACCESS_KEY')];
  const sessionToken = headerText(env, 'S3_SESSION_TOKEN', 8192);
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    if (sessionToken !== undefined)
      throw new ConfigError('S3_SESSION_TOKEN needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY');
    return undefined;
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
};

/** Under the names that platforms set for their pods. */
const webIdentity = (env: Environment, region: string): WebIdentity | undefined => {
  const [tokenFile, roleArn] = [text(env, 'AWS_WEB_IDENTITY_TOKEN_FILE'), text(env, 'AWS_ROLE_ARN')];
  if (tokenFile === undefined || roleArn === undefined) return undefined;
  if (!existsSync(tokenFile))
    throw new ConfigError(`AWS_WEB_IDENTITY_TOKEN_FILE names ${tokenFile}, which does not exist`);
  if (!/^arn:[\x21-\x7e]{1,2044}$/.test(roleArn))
    throw new ConfigError(`AWS_ROLE_ARN must start with "arn:", not "${roleArn}"`);
  const sessionName = text(env, 'AWS_ROLE_SESSION_NAME') ?? 'sluice';
  if (!/^[\w+=,.@-]{2,64}$/.test(sessionName))
    throw new ConfigError('AWS_ROLE_SESSION_NAME must be 2 to 64 letters, digits or any of +=,.@-_');
  return {
    stsEndpoint:
      url(env, 'AWS_ENDPOINT_URL_STS', ['http:', 'https:']) ?? `https://sts.${region}.amazonaws.com`,
    tokenFile,
    roleArn,
    sessionName,
    seconds: integer(env, 'S3_ROLE_SECONDS', 3600, 900, 43_200),
  };
};

const encryption = (env: Environment): Encryption | undefined => {
  const method = oneOf(env, 'S3_SSE', ['off', 'AES256', 'aws:kms'], 'off');
  const keyId = headerText(env, 'S3_SSE_KMS_KEY_ID', 2048);
  if (keyId !== undefined && method !== 'aws:kms')
    throw new ConfigError('S3_SSE_KMS_KEY_ID needs S3_SSE=aws:kms');
  return method === 'off' ? undefined : { method, keyId };
};

/** It stands in a header. */
const headerText = (env: Environment, name: string, most: number): string | undefined => {
  const value = text(env, name);
  if (value !== undefined && (value.length > most || !/^[\x21-\x7e]+$/.test(value)))
    throw new ConfigError(`${name} must be at most ${most} visible ASCII characters without spaces`);
  return value;
};
