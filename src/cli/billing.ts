/** `sluice billing`: reads usage from Kafka into the ledger, until a signal ends it. */
import { once } from 'node:events';
import { pino } from 'pino';
import { loadConfig } from '../config.ts';
import type { Command } from './command.ts';
import { remark } from './output.ts';

export const billing: Command = {
  name: 'billing',
  operands: '',
  arity: [0, 0],
  summary: 'read usage from Kafka into the ledger, beside gateways that leave it to others',
  details:
    'Needs KAFKA_BROKERS; CLICKHOUSE_URL for a ledger that several share. Gateways with SLUICE_BILLING=apart do not read.\nAny number may run: they share the work.',
  options: {},
  run: async () => {
    const config = loadConfig();
    if (config.kafka === undefined)
      throw new Error('KAFKA_BROKERS is not set: without Kafka a gateway keeps the ledger itself');
    const log = pino({ level: config.logLevel }, pino.destination(2));
    const [{ openLedger }, { readUsage }, { receiveUsage }] = await Promise.all([
      import('../adapters/ledger/open.ts'),
      import('../adapters/events/open.ts'),
      import('../billing/receive-usage.ts'),
    ]);
    const ledger = await openLedger(config, log);
    const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    await ledger.check().catch((error: unknown) => {
      log.error({ err: error }, error instanceof Error ? error.message : String(error));
    });
    const reading = await readUsage(config.kafka, receiveUsage(ledger), log);
    remark(
      `Reading usage from Kafka at ${config.kafka.brokers.join(', ')} into ${config.clickHouseUrl === undefined ? config.dataDir : 'ClickHouse'}.`,
    );
    await ended;
    await reading.close();
    await ledger.close();
  },
};
