/** What a person reads when the gateway has started: where it listens, which key to use, what to try next. */
import type { Config } from './config.ts';

export interface Welcome {
  readonly url: string;
  /** Undefined when the key was made by an earlier start: it is stored as a hash only. */
  readonly secret: string | undefined;
  readonly shownOnce: boolean;
  /** How many are on offer, and one to try. */
  readonly models: number;
  readonly chatModel: string | undefined;
  readonly adminUrl: string | undefined;
  /** Gateways on the port, where there are several. */
  readonly processes?: number;
  readonly config: Pick<Config, 'configFile' | 'dataDir' | 'redisUrl'>;
}

export const welcome = ({
  url,
  secret,
  shownOnce,
  models,
  chatModel,
  adminUrl,
  processes,
  config,
}: Welcome): string => {
  const from = config.configFile ?? 'the default catalog on the built-in simulator (no sluice.yaml)';
  const lines = [
    '',
    '  Sluice is listening',
    '',
    `  base URL   ${url}`,
    `  key        ${secret ?? 'made at an earlier start; another: npx sluice keys create --subscription default'}`,
    ...(shownOnce ? ['             shown this once: it is stored as a hash'] : []),
    `  models     ${models} from ${from}`,
    `  data       ${config.dataDir}`,
    ...(processes === undefined
      ? []
      : [
          `  processes  ${processes}${config.redisUrl === undefined ? '; each counts limits by itself: REDIS_URL makes them one' : ''}`,
        ]),
    ...(adminUrl === undefined ? [] : [`  metrics    ${adminUrl}/metrics`]),
  ];
  if (chatModel !== undefined)
    lines.push(
      '',
      '  Try it:',
      '',
      `  curl -N ${url}/chat/completions \\`,
      `    -H 'Authorization: Bearer ${secret ?? '$SLUICE_KEY'}' -H 'Content-Type: application/json' \\`,
      `    -d '{"model":"${chatModel}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
    );
  return `${lines.join('\n')}\n\n`;
};
