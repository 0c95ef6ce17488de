/** Credentials for S3: fixed ones, or temporary ones that a web identity token is exchanged for. */
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, request as send } from 'undici';
import { exponentialBackoff } from '../../helpers/backoff.ts';
import { element, readWords, reasonIn } from './s3-xml.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** A token that the platform keeps fresh in a file stands for a role. */
export interface WebIdentity {
  /** `https://sts.eu-central-1.amazonaws.com` … */
  readonly stsEndpoint: string;
  readonly tokenFile: string;
  readonly roleArn: string;
  readonly sessionName: string;
  /** How long credentials are requested for. */
  readonly seconds: number;
}

export interface CredentialSource {
  /** Credentials that are valid for so long, or for as long as any can be had. */
  get(seconds?: number): Credentials | Promise<Credentials>;
}

interface Temporary extends Credentials {
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** They are renewed so long before they expire, once a minute at most. */
const spare = 300_000;
const pause = 60_000;
/** A request takes some time to arrive. */
const margin = 10_000;
/** After a failure without any valid ones, further calls fail at once for so long. */
const failurePause = 5_000;
const attempts = 3;
const backoff = exponentialBackoff({ first: 200, factor: 4 });
const patience = 10_000;
const mostBytes = 64 * 1024;

export const fixedCredentials = (credentials: Credentials): CredentialSource => ({ get: () => credentials });

/** `dispatcher`: its connections are closed by its owner. */
export const webIdentityCredentials = (
  identity: WebIdentity,
  dispatcher: Dispatcher,
  now: () => number = Date.now,
): CredentialSource => {
  let current: Temporary | undefined;
  let renewing: Promise<Credentials> | undefined;
  let lastRenewal = Number.NEGATIVE_INFINITY;

  const renew = (): Promise<Credentials> => {
    lastRenewal = now();
    renewing = assumeRole(identity, dispatcher).then((credentials) => {
      current = credentials;
      renewing = undefined;
      return credentials;
    });
    renewing.catch(async () => {
      await delay(failurePause, undefined, { ref: false });
      renewing = undefined;
    });
    return renewing;
  };

  return {
    get: (seconds = 0) => {
      const known = current !== undefined && current.expiresAt > now() + margin ? current : undefined;
      if (known === undefined) return renewing ?? renew();
      if (known.expiresAt - now() >= Math.max(spare, seconds * 1000)) return known;
      if (renewing === undefined && now() - lastRenewal < pause) return known;
      // Where new ones cannot be had, those that there are do until they expire.
      const renewed = (renewing ?? renew()).catch(() => known);
      return seconds === 0 ? known : renewed;
    },
  };
};

/** There are no credentials; its message says why, without secrets. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}

const assumeRole = async (identity: WebIdentity, dispatcher: Dispatcher): Promise<Temporary> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await assumeRoleOnce(identity, dispatcher);
    } catch (error) {
      if (error instanceof CredentialsError) throw error;
      if (attempt === attempts)
        throw new CredentialsError(`no credentials from STS: ${(error as Error).message}`, { cause: error });
      await delay(backoff(attempt));
    }
  }
};

/** A `CredentialsError` of it is final: the same request would be refused again. */
const assumeRoleOnce = async (identity: WebIdentity, dispatcher: Dispatcher): Promise<Temporary> => {
  const { stsEndpoint, tokenFile, roleArn, sessionName, seconds } = identity;
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: sessionName,
    DurationSeconds: String(seconds),
    // Read each time: the platform replaces it.
    WebIdentityToken: await readToken(tokenFile),
  });
  const { statusCode, body } = await send(stsEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/xml' },
    body: form.toString(),
    dispatcher,
    signal: AbortSignal.timeout(patience),
  });
  const words = await readWords(body, mostBytes);
  if (statusCode !== 200) {
    const reason = `STS answered ${statusCode}: ${reasonIn(words)}`;
    throw statusCode < 500 && statusCode !== 429 ? new CredentialsError(reason) : new Error(reason);
  }
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map((name) => element(words, name));
  const expiresAt = Date.parse(expiration ?? '');
  if (!accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(expiresAt))
    throw new CredentialsError('STS answered without credentials');
  return { accessKeyId, secretAccessKey, sessionToken, expiresAt };
};

const readToken = async (path: string): Promise<string> => {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(mostBytes + 1), 0, mostBytes + 1, 0);
    const token = buffer.toString('utf8', 0, bytesRead).trim();
    if (bytesRead > mostBytes || token === '')
      throw new CredentialsError(
        `AWS_WEB_IDENTITY_TOKEN_FILE: ${path} is ${token === '' ? 'empty' : 'too large'}`,
      );
    return token;
  } finally {
    await file.close();
  }
};
