/** A DNS server for tests: `dnsmasq` on a free loopback port, with records that can be replaced. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { end, freePort, launch, notAskedFor } from './child.ts';

export interface DnsService {
  /** `address:port`. */
  readonly address: string;
  /** As options of dnsmasq: `--host-record=name,address`, `--srv-host=…`. */
  serve(records: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Why there is no DNS server to test with; undefined when there is one. */
export const dnsMissing = (): string | undefined => {
  const excuse = notAskedFor();
  if (excuse !== undefined) return excuse;
  return spawnSync('dnsmasq', ['--version'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'no dnsmasq on PATH';
};

export const startDns = async (): Promise<DnsService> => {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const start = (records: readonly string[]): Promise<ChildProcess> =>
    launch(
      'dnsmasq',
      [
        ...['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--local=/#/'],
        ...['--listen-address=127.0.0.1', '--bind-interfaces', '--local-ttl=1', '--pid-file=', '--user=root'],
        ...[`--port=${port}`, '--host-record=ready.test,127.0.0.9', ...records],
      ],
      () => answers(address),
    );
  let server = await start([]);
  return {
    address,
    serve: async (records) => {
      await end(server, 'SIGTERM');
      server = await start(records);
    },
    stop: () => end(server, 'SIGTERM'),
  };
};

const answers = (address: string): Promise<boolean> => {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([address]);
  return resolver.resolve4('ready.test').then(
    () => true,
    () => false,
  );
};
