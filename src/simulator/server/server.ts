/** Starts the simulator as an HTTP engine. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimulatorServerOptions } from './options.ts';
import { createService } from './service.ts';
import { CallCounter, type SimulatorStats } from './stats.ts';

export type { SimulatorServerOptions } from './options.ts';

export interface SimulatorServer {
  /** Ends in `/v1`. */
  readonly url: string;
  /** Cuts running answers off. */
  close(): Promise<void>;
  stats(): SimulatorStats;
}

export async function startSimulatorServer(options: SimulatorServerOptions = {}): Promise<SimulatorServer> {
  const { host = '127.0.0.1', port = 0 } = options;
  const calls = new CallCounter();
  const service = createService(options, calls);
  const server = createServer(service.listener);
  // A gateway keeps its connections: they must not be closed under its next request.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}/v1`,
    stats: () => calls.stats(),
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await service.close();
    },
  };
}
