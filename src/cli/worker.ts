/** `sluice worker`: renders videos and songs beside gateways until a signal stops it. */
import { pino } from 'pino';
import { loadConfig } from '../config.ts';
import type { Command } from './command.ts';
import { remark } from './output.ts';
import { runService } from './run-service.ts';

export const worker: Command = {
  name: 'worker',
  operands: '',
  arity: [0, 0],
  summary: 'render videos and songs and deliver webhooks, beside gateways that share its store',
  details:
    'Needs REDIS_URL, and files that gateways can read too: an S3 store, or the same data folder. SLUICE_WORKERS says how many\nrenders it does at once; gateways with SLUICE_WORKERS=0 leave them all to workers. Any number may run. KAFKA_BROKERS\nnotifies them of new jobs at once. SLUICE_ADMIN_PORT gives it a port for metrics and probes.',
  options: {},
  run: async () => {
    const config = loadConfig();
    const log = pino({ level: config.logLevel }, pino.destination(2));
    const { startWorker } = await import('../worker.ts');
    const running = await startWorker(config, log);
    remark(`Rendering up to ${config.jobs.renders} jobs at once.`);
    if (running.adminUrl !== undefined) remark(`Metrics and probes at ${running.adminUrl}.`);
    await runService(running, config, log);
  },
};
