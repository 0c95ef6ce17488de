/** `sluice serve`: runs the gateway, in one process or in several on one port. */
import { type Logger, pino } from 'pino';
import { type Config, loadConfig } from '../config.ts';
import { stopInTime, stopOnFatalError } from '../helpers/fatal.ts';
import { collectWhenIdle } from '../helpers/idle-collection.ts';
import type { Gateway } from '../main.ts';
import type { joinGroup } from '../processes/member.ts';
import { codecLine, type Welcome, welcome } from '../welcome.ts';
import { type Command, UsageError } from './command.ts';
import { runService } from './services.ts';

/** More than cores help nobody; a typo should not start a thousand. */
const maxProcesses = 256;

export const serve: Command = {
  name: 'serve',
  summary: 'start the gateway and run until a signal ends it',
  details:
    'Settings come from the environment: HOST, PORT, SLUICE_DATA, SLUICE_CONFIG and others; see the README.\nWith several processes SIGUSR2 replaces them one by one, without losing a request; limits then need REDIS_URL to hold over all of them.',
  options: { processes: { value: 'N', help: 'gateways that share the port, one a core, say (1)' } },
  run: async (input) => {
    const text = input.text('processes') ?? '1';
    const processes = Number(text);
    if (!/^[1-9]\d*$/.test(text) || processes > maxProcesses)
      throw new UsageError(`--processes must be a whole number from 1 to ${maxProcesses}, not "${text}"`);
    const config = loadConfig();
    const log = pino({ level: config.logLevel }, pino.destination(2));
    // Both are loaded only here: the other commands start faster without them.
    if (processes > 1) {
      const { supervise } = await import('../processes/supervise.ts');
      return supervise({ config, log, processes, show });
    }
    const member =
      config.sharedPort && process.send !== undefined ? await import('../processes/member.ts') : undefined;
    member?.beginHeartbeat();
    try {
      const { startGateway } = await import('../main.ts');
      const gateway = await startGateway(config, log);
      if (member !== undefined) await runMember(gateway, config, log, member.joinGroup);
      else {
        // Who reads that it is there may stop it at once.
        const stopped = runService(gateway, config, log);
        show(welcome(welcomeOf(gateway, config)));
        void gateway.codecInfo.then((info) => info && show(codecLine(info)));
        await stopped;
      }
    } finally {
      // An open channel to the supervisor would keep the process alive; closing it would hide the exit code.
      process.channel?.unref();
    }
  },
};

const runMember = async (
  gateway: Gateway,
  config: Config,
  log: Logger,
  join: typeof joinGroup,
): Promise<void> => {
  stopOnFatalError(log, config.drainMs, () => gateway.stop());
  collectWhenIdle();
  const { config: _, ...greeting } = welcomeOf(gateway, config);
  const options = await join(gateway, greeting);
  log.info(options, 'draining');
  // Handing over, it first waits for connections to end, then for requests.
  const drains = options.handOver ? 2 : 1;
  await stopInTime(log, drains * config.drainMs, () => gateway.stop(options));
};

const welcomeOf = (gateway: Gateway, config: Config): Welcome => {
  const models = gateway.ports.catalog.list();
  return {
    url: gateway.url,
    secret: gateway.firstKey,
    keyGiven: config.bootstrapKey !== undefined,
    models: models.length,
    chatModel: models.find(({ kind }) => kind === 'chat')?.id,
    page: gateway.page,
    adminUrl: gateway.adminUrl,
    adminToken: gateway.adminToken,
    config,
  };
};

const show = (text: string): void => void process.stdout.write(text);
