/** Events delivered within the process: usage goes straight into the ledger, which counts repeats once. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { Events } from '../../ports/events.ts';
import type { Ledger } from '../../ports/ledger.ts';

export const createLocalEvents = (ledger: Ledger): Events => ({
  publish: async (topic, messages) => {
    if (topic === 'usage') await ledger.insert(messages.map(({ json }) => JSON.parse(json) as UsageEvent));
  },
  check: () => Promise.resolve(),
  close: () => Promise.resolve(),
});
