/** Decides what a command talks to: a gateway's admin API, or the stores that the settings name. */

import { loadConfig } from '../../config.ts';
import { environment, text } from '../../environment.ts';
import { linkTo } from '../../helpers/address.ts';
import { type Input, type Option, UsageError } from '../command.ts';
import { readContexts } from './contexts.ts';

/** Options of every command that can use a gateway. */
export const targetOptions: Readonly<Record<string, Option>> = {
  url: { value: 'URL', help: 'admin port of a running gateway (SLUICE_ADMIN_URL, else the context in use)' },
  token: { value: 'TOKEN', help: 'token of its admin API (SLUICE_ADMIN_TOKEN)' },
  context: { value: 'NAME', help: 'a saved gateway: sluice context list' },
};

export interface Gateway {
  /** Without `/admin/v1`. */
  readonly url: string;
  readonly token: string;
}

/** Undefined: the stores. What is nearest wins: options, variables, then the context in use. */
export const gatewayOf = (input: Input): Gateway | undefined => {
  const env = environment();
  const named = input.text('context');
  if (named !== undefined && input.given('url'))
    throw new UsageError('--url and --context exclude each other');
  const token = input.text('token') ?? text(env, 'SLUICE_ADMIN_TOKEN');
  if (named !== undefined) return saved(named, input.text('token'));
  const url = input.text('url') ?? text(env, 'SLUICE_ADMIN_URL');
  if (url !== undefined) return { url: adminAddress(url), token: token ?? savedToken(url) };
  if (text(env, 'SLUICE_DATA') !== undefined || text(env, 'REDIS_URL') !== undefined) return undefined;
  const { current } = readContexts();
  return current === undefined ? undefined : saved(current, input.text('token'));
};

/** For what only a running gateway knows: without any choice, the one that is configured here. */
export const runningGateway = (input: Input): Gateway => {
  const chosen = gatewayOf(input);
  if (chosen !== undefined) return chosen;
  const { admin } = loadConfig();
  if (admin === undefined) throw new UsageError('say which gateway: --url URL, or SLUICE_ADMIN_URL');
  const url = linkTo('http', admin);
  const token = input.text('token') ?? text(environment(), 'SLUICE_ADMIN_TOKEN');
  return { url, token: token ?? savedToken(url) };
};

const saved = (name: string, token: string | undefined): Gateway => {
  const found = readContexts().byName[name];
  if (found === undefined) throw new UsageError(`there is no context "${name}": sluice context list`);
  return { url: found.url, token: token ?? found.token };
};

const savedToken = (url: string): string => {
  const found = Object.values(readContexts().byName).find((each) => each.url === adminAddress(url));
  if (found === undefined) throw new UsageError('say which token: --token TOKEN, or SLUICE_ADMIN_TOKEN');
  return found.token;
};

/** People paste the address of the API as well as that of the port. */
export const adminAddress = (url: string): string => {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(`--url takes an address such as http://127.0.0.1:9787, not "${url}"`);
  return url.replace(/(?<!\/)\/+$/, '').replace(/\/admin\/v1$/, '');
};
