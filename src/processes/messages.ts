/** What the first process and the gateways it started say to each other. */
import type { Family } from '../metrics/exposition.ts';
import type { Welcome } from '../welcome.ts';

/** The first process says the rest itself. */
export type Greeting = Pick<Welcome, 'url' | 'secret' | 'keyGiven' | 'models' | 'chatModel'>;

export type Order =
  /** To end; what is left of the port goes on with others, or not. */
  | { readonly order: 'drain'; readonly handOver: boolean }
  | { readonly order: 'reload' }
  /** Its metrics, or whether it is ready: those do not wait for what readiness asks of others. */
  | { readonly order: 'look' | 'ask'; readonly number: number };

export type Word =
  /** It listens; what a person should know of it. */
  | { readonly word: 'ready'; readonly greeting: Greeting }
  | { readonly word: 'seen'; readonly number: number; readonly families: readonly Family[] }
  /** Why it should get no work. */
  | { readonly word: 'asked'; readonly number: number; readonly unready: readonly string[] };
