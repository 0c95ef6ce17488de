/** Runs a gateway as a child process with a short rate window, and prints its address. */
import { pino } from 'pino';
import { loadConfig } from '../../src/config.ts';
import { startGateway } from '../../src/main.ts';

const config = loadConfig();
const rules: unknown = JSON.parse(process.env.TEST_ADMISSION_RULES ?? '{}');
const gateway = await startGateway(
  { ...config, admission: { ...config.admission, rules: rules as object } },
  pino({ level: 'warn' }, pino.destination(2)),
);
process.send?.(gateway.url);
// Nobody is left to serve.
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => void gateway.stop().then(() => process.exit()));
