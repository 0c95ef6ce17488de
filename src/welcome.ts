/** The text printed when the gateway has started: its address, its key, a first request. */
import type { Config } from './config.ts';

export interface Welcome {
  readonly url: string;
  /** Of the key that this start created; later starts know only its hash. */
  readonly secret: string | undefined;
  /** The first key came with the settings and is not printed: this text may end up in a log. */
  readonly keyGiven: boolean;
  readonly models: number;
  readonly chatModel: string | undefined;
  /** Of the page for client developers; undefined: pages are switched off. */
  readonly page?: string | undefined;
  readonly adminUrl: string | undefined;
  /** Of the admin API, if this start created it. */
  readonly adminToken?: string | undefined;
  /** Gateway processes on the port, where there are several. */
  readonly processes?: number;
  readonly config: Pick<Config, 'configFile' | 'dataDir' | 'redis'>;
}

export const welcome = ({
  url,
  secret,
  keyGiven,
  models,
  chatModel,
  page,
  adminUrl,
  adminToken,
  processes,
  config,
}: Welcome): string => {
  const from = config.configFile ?? 'the default catalog on the built-in simulator (no sluice.yaml)';
  const lines = [
    '',
    '  Sluice is listening',
    '',
    `  base URL   ${url}`,
    ...(page === undefined ? [] : [`  page       ${page}`]),
    ...keyLines(secret, keyGiven),
    `  models     ${models} from ${from}`,
    `  data       ${config.dataDir}`,
    ...(processes === undefined
      ? []
      : [
          `  processes  ${processes}${config.redis === undefined ? '; each counts limits by itself: REDIS_URL makes them one' : ''}`,
        ]),
    ...(adminUrl === undefined
      ? []
      : [
          ...(page === undefined ? [] : [`  console    ${adminUrl}/`]),
          `  metrics    ${adminUrl}/metrics`,
          `  admin API  ${adminUrl}/admin/v1`,
        ]),
    ...(adminToken === undefined
      ? []
      : [
          `  token      ${adminToken}`,
          '             of the admin API, shown this once: it is stored as a hash',
        ]),
  ];
  if (chatModel !== undefined)
    lines.push(
      '',
      '  Try it:',
      '',
      `  curl -N ${url}/chat/completions \\`,
      `    -H "Authorization: Bearer ${secret ?? (keyGiven ? '$SLUICE_BOOTSTRAP_KEY' : '$SLUICE_KEY')}" -H 'Content-Type: application/json' \\`,
      `    -d '{"model":"${chatModel}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
    );
  return `${lines.join('\n')}\n\n`;
};

const keyLines = (secret: string | undefined, given: boolean): readonly string[] => {
  if (secret !== undefined)
    return [`  key        ${secret}`, '             shown this once: it is stored as a hash'];
  return [
    `  key        ${
      given
        ? 'the one in SLUICE_BOOTSTRAP_KEY'
        : 'made at an earlier start; another: npx sluice keys create --subscription default'
    }`,
  ];
};

/** Printed a moment later: nothing waits until ffmpeg was found. */
export const codecLine = ({ version, provider, sandbox }: Codec): string =>
  `  codec      ffmpeg ${version} ${places[provider]}, ${confinements[sandbox]}\n\n`;

interface Codec {
  readonly version: string;
  readonly provider: keyof typeof places;
  readonly sandbox: keyof typeof confinements;
}

const places = {
  configured: 'of SLUICE_FFMPEG',
  system: 'of the system',
  packaged: 'with the packages',
} as const;

const confinements = {
  bubblewrap: 'confined by bubblewrap',
  landlock: 'confined by Landlock and seccomp',
  wasm: 'confined as WebAssembly: slower than a native one',
  none: 'not confined',
} as const;
