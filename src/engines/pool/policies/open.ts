/** Opens the balancing policy that an engine's row names. */
import type { EngineRow } from '../../../../schemas/engines.ts';
import { rowDefaults } from '../../effective-row.ts';
import { LeastBusy } from './least-busy.ts';
import type { Policy } from './policy.ts';
import { PrefixAffinity } from './prefix.ts';
import { SessionAffinity } from './session.ts';

export const openPolicy = ({ balance = rowDefaults.balance }: Pick<EngineRow, 'balance'>): Policy => {
  switch (balance) {
    case 'least-busy':
      return new LeastBusy();
    case 'prefix':
      return new PrefixAffinity();
    case 'session':
      return new SessionAffinity();
  }
};
