/** Opens what limits calls: the limits of subscriptions, budgets, and the allowances that count both. */
import type { Logger } from 'pino';
import { type Accounts, type AccountsConfig, openAccounts } from './accounts.ts';
import type { AdmissionConfig } from './adapters/admission/open.ts';
import { openAllowances } from './adapters/allowances/open.ts';
import { type BudgetsBook, openBudgetsBook } from './budgets/book.ts';
import { createQuotas } from './budgets/quotas.ts';
import { createSpent } from './budgets/spent.ts';
import { QuotaStats } from './budgets/stats.ts';
import type { Opened } from './helpers/opened.ts';
import { type LimitsBook, openLimitsBook } from './limits/book.ts';
import type { Allowances } from './ports/allowances.ts';
import type { Quotas } from './ports/quotas.ts';
import type { State } from './ports/state.ts';

export interface OpenedQuotas {
  readonly quotas: Quotas;
  readonly allowances: Allowances;
  readonly budgets: BudgetsBook;
  readonly limits: LimitsBook;
  readonly stats: QuotaStats;
}

interface Parts {
  readonly state: State;
  readonly opened: Opened;
  readonly log: Logger;
}

/** With the accounts: each needs the other, allowances to know what was spent, accounts to report what the dead did. */
export const openAccountsAndQuotas = async (
  config: AccountsConfig & AdmissionConfig,
  parts: Parts,
): Promise<{ readonly accounts: Accounts } & OpenedQuotas> => {
  let open: (allowances: Allowances) => void = () => undefined;
  let giveUp: (error: unknown) => void = () => undefined;
  const opening = new Promise<Allowances>((resolve, reject) => {
    open = resolve;
    giveUp = reject;
  });
  // Nobody may wait for it.
  opening.catch(() => undefined);
  const accounts = parts.opened.add(
    await openAccounts(config, parts.log, {
      died: async (dead) => (await opening).died(dead),
    }),
  );
  try {
    const quotas = await openQuotas(config, accounts, parts);
    open(quotas.allowances);
    return { accounts, ...quotas };
  } catch (error) {
    giveUp(error);
    throw error;
  }
};

const openQuotas = async (
  config: AdmissionConfig,
  { usage, ledger }: Accounts,
  { state, opened, log }: Parts,
): Promise<OpenedQuotas> => {
  const limits = opened.add(await openLimitsBook(state, { log }));
  const budgets = opened.add(await openBudgetsBook(state, { log }));
  const spent = createSpent({ state, ledger, ship: () => usage.ship() });
  const allowances = opened.add(
    await openAllowances(config, {
      process: usage.process,
      spent,
      ledger,
      markCutOff: (isCutOff) => usage.markCutOff(isCutOff),
      log,
    }),
  );
  const stats = new QuotaStats();
  const quotas = createQuotas({ allowances, budgets, limits, stats, log });
  return { quotas, allowances, budgets, limits, stats };
};
