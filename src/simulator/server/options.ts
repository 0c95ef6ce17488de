/** Options of the simulator as an HTTP server. */
import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../../errors.ts';
import type { SimulatorOptions } from '../simulator.ts';
import type { Quirk } from './quirks.ts';

export interface SimulatorServerOptions extends SimulatorOptions {
  readonly host?: string;
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly quirks?: Iterable<Quirk>;
  /** Ids on offer, all others answered 404; absent: every id is served. */
  readonly models?: readonly string[];
  /** Asked of every request as a bearer token. */
  readonly key?: string;
  /** Sees every chat request before it is answered. */
  readonly onRequest?: (request: { readonly body: unknown; readonly headers: IncomingHttpHeaders }) => void;
}

export function checkModel(model: string, { models }: SimulatorServerOptions): void {
  if (models !== undefined && !models.includes(model))
    throw fail('not_found', `The model \`${model.slice(0, 100)}\` does not exist.`);
}
