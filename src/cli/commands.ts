/** The command table. A new command is a row here and a file beside it. */
import { budgets } from './budgets.ts';
import { chat } from './chat.ts';
import type { Command } from './command.ts';
import { completion } from './completion.ts';
import { config } from './config.ts';
import { context } from './context.ts';
import { engineCheck } from './engine-check.ts';
import { engines } from './engines.ts';
import { keys } from './keys.ts';
import { limits } from './limits.ts';
import { logs } from './logs.ts';
import { models } from './models.ts';
import { requests } from './requests.ts';
import { serve } from './serve.ts';
import { billing, worker } from './services.ts';
import { simulate } from './simulate.ts';
import { status } from './status.ts';
import { subscriptions } from './subscriptions.ts';
import { tokens } from './tokens.ts';
import { usage } from './usage.ts';
import { usageVerify } from './usage-verify.ts';
import { webhooks } from './webhooks.ts';

/** Commands of two words come before a command of their first word alone. */
export const commands: readonly Command[] = [
  serve,
  worker,
  billing,
  ...keys,
  ...subscriptions,
  ...limits,
  ...budgets,
  usageVerify,
  usage,
  ...webhooks,
  status,
  ...requests,
  logs,
  models,
  ...engines,
  ...tokens,
  ...context,
  ...config,
  chat,
  engineCheck,
  simulate,
  completion(() => commands),
];
