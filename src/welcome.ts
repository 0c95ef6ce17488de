/** What a person reads when the gateway has started: where it listens, which key to use, what to try next. */
import type { Model } from '../schemas/catalog.ts';
import type { Config } from './config.ts';

export interface Welcome {
  readonly url: string;
  /** Undefined when the key was made by an earlier start: it is stored as a hash only. */
  readonly secret: string | undefined;
  readonly shownOnce: boolean;
  readonly models: readonly Model[];
  readonly adminUrl: string | undefined;
  readonly config: Pick<Config, 'configFile' | 'dataDir'>;
}

export const welcome = ({ url, secret, shownOnce, models, adminUrl, config }: Welcome): string => {
  const chat = models.find((model) => model.kind === 'chat');
  const from = config.configFile ?? 'the default catalog on the built-in simulator (no sluice.yaml)';
  const lines = [
    '',
    '  Sluice is listening',
    '',
    `  base URL   ${url}`,
    `  key        ${secret ?? 'made at an earlier start; another: npx sluice keys create --subscription default'}`,
    ...(shownOnce ? ['             shown this once: it is stored as a hash'] : []),
    `  models     ${models.length} from ${from}`,
    `  data       ${config.dataDir}`,
    ...(adminUrl === undefined ? [] : [`  metrics    ${adminUrl}/metrics`]),
  ];
  if (chat !== undefined)
    lines.push(
      '',
      '  Try it:',
      '',
      `  curl -N ${url}/chat/completions \\`,
      `    -H 'Authorization: Bearer ${secret ?? '$SLUICE_KEY'}' -H 'Content-Type: application/json' \\`,
      `    -d '{"model":"${chat.id}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
    );
  return `${lines.join('\n')}\n\n`;
};
