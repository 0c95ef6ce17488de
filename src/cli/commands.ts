/** The command table. A new command is a row here and a file beside it. */
import type { Command } from './command.ts';
import { keys } from './keys.ts';
import { limits } from './limits.ts';
import { serve } from './serve.ts';
import { simulate } from './simulate.ts';
import { subscriptions } from './subscriptions.ts';

export const commands: readonly Command[] = [serve, ...keys, ...subscriptions, ...limits, simulate];
