/** A gateway on the simulator for fuzzing, with high limits and queued jobs. */
import { createKeyManagement } from '../../src/keys/manage.ts';
import { createLimitsManagement } from '../../src/limits/manage.ts';
import { startGateway, type TestGateway } from '../gateway.ts';

export const startFuzzGateway = async (env: Readonly<Record<string, string>> = {}): Promise<TestGateway> => {
  const gateway = await startGateway({ env: { SLUICE_WORKERS: '8', ...env } });
  const { state } = gateway.ports;
  for (const { id } of await createKeyManagement(state).listSubscriptions())
    await createLimitsManagement(state).set(id, undefined, {
      requests_per_minute: 1_000_000,
      concurrency: 1000,
    });
  return gateway;
};
