/** The parts that gateways and workers both have in; their metrics out. */

import type { Engines } from '../ports/engine.ts';
import type { Reading } from '../ports/events.ts';
import type { UsageLog } from '../ports/usage.ts';
import { type EngineState, engineFamilies } from './engine-families.ts';
import type { MetricFamily } from './exposition.ts';
import { gauge } from './process.ts';
import { readingFamilies } from './reading-families.ts';

export interface Service {
  readonly engines: Pick<Engines, 'health'> & { stats(): ReadonlyMap<string, EngineState> };
  readonly accounts: {
    /** Bytes of usage on disk that are not shipped yet; whether more may come. */
    readonly usage: { lag(): number } & Pick<UsageLog, 'ensureOpen'>;
    readonly reading: Pick<Reading, 'stats'> | undefined;
  };
  readonly jobs: { rendering(): number };
  readonly sender: {
    readonly sending: number;
    readonly ended: { readonly delivered: number; readonly failed: number };
  };
  /** Renders at once. */
  readonly slots: number;
}

export const serviceFamilies = ({
  engines,
  accounts,
  jobs,
  sender,
  slots,
}: Service): readonly MetricFamily[] => [
  ...engineFamilies(engines.health(), engines.stats()),
  gauge('sluice_journal_lag_bytes', 'Usage on disk that is not shipped yet.', accounts.usage.lag()),
  gauge(
    'sluice_journal_open',
    '1 while usage can be kept; 0 while billable requests are refused because it cannot.',
    isOpen(accounts.usage) ? 1 : 0,
  ),
  ...readingFamilies(accounts.reading?.stats()),
  gauge('sluice_renders', 'Videos and songs that this process renders.', jobs.rendering()),
  gauge('sluice_render_slots', 'Videos and songs that it may render at once.', slots),
  gauge('sluice_webhook_attempts', 'Webhook deliveries under way.', sender.sending),
  {
    name: 'sluice_webhook_attempts_ended_total',
    help: 'Attempts to deliver a webhook that ended, by outcome; failed ones are tried again.',
    type: 'counter',
    samples: Object.entries(sender.ended).map(([outcome, value]) => ({ labels: { outcome }, value })),
  },
];

/** It says no by throwing: the disk is full, or too much waits to be shipped. */
const isOpen = (usage: Pick<UsageLog, 'ensureOpen'>): boolean => {
  try {
    usage.ensureOpen();
    return true;
  } catch {
    return false;
  }
};
