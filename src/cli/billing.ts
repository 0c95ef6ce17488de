/** `sluice billing`: reads usage from Kafka into the ledger until a signal stops it. */
import { pino } from 'pino';
import { loadConfig } from '../config.ts';
import type { Command } from './command.ts';
import { remark } from './output.ts';
import { runService } from './run-service.ts';

export const billing: Command = {
  name: 'billing',
  operands: '',
  arity: [0, 0],
  summary: 'read usage from Kafka into the ledger, beside gateways that leave it to others',
  details:
    'Needs KAFKA_BROKERS; CLICKHOUSE_URL for a ledger that several share. Gateways with SLUICE_BILLING=apart do not read.\nAny number may run: they share the work. SLUICE_ADMIN_PORT gives it a port for metrics and probes.',
  options: {},
  run: async () => {
    const config = loadConfig();
    const log = pino({ level: config.logLevel }, pino.destination(2));
    const { startBilling } = await import('../billing.ts');
    const running = await startBilling(config, log);
    const into = config.clickHouseUrl === undefined ? config.dataDir : 'ClickHouse';
    remark(`Reading usage from Kafka at ${config.kafka?.brokers.join(', ')} into ${into}.`);
    if (running.adminUrl !== undefined) remark(`Metrics and probes at ${running.adminUrl}.`);
    await runService(running, config, log);
  },
};
