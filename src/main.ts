/** The composition root: configuration in, a running gateway out; picks adapters, starts in order, drains in reverse. */
import { type Logger, pino } from 'pino';
import { routes } from '../pipelines/routes.ts';
import { embedPassages } from '../pipelines/stages/embed-passages.ts';
import { openAdmission } from './adapters/admission/open.ts';
import { openBlobs } from './adapters/blobs/open.ts';
import { openState } from './adapters/state/open.ts';
import { openVectors } from './adapters/vectors/open.ts';
import { openAdmin } from './admin/open.ts';
import { createReadiness } from './admin/readiness.ts';
import { openAccounts } from './billing/accounts.ts';
import { openCatalog } from './catalog/watch.ts';
import { createCodec } from './codec/codec.ts';
import { createCollections } from './collections/collections.ts';
import { type Config, loadConfig } from './config.ts';
import { createSimulator } from './engines/simulator/simulator.ts';
import { createEngines } from './engines/table.ts';
import { type DrainOptions, defaultEdgeLimits, listen } from './http/listen.ts';
import { createPictures } from './images/pictures.ts';
import { openJobs } from './jobs/open.ts';
import { ensureBootstrapKey } from './keys/bootstrap.ts';
import { createKeys } from './keys/keys.ts';
import { openLimitsBook } from './limits/book.ts';
import { withOwnLimits } from './limits/override.ts';
import { createMedia } from './media/media.ts';
import type { Family } from './metrics/exposition.ts';
import { createMetrics } from './metrics/metrics.ts';
import { gauge } from './metrics/process.ts';
import { createOffload } from './offload/offload.ts';
import type { Ports } from './ports/ports.ts';
import { type Welcome, welcome } from './welcome.ts';

export interface Gateway {
  /** Base address for clients, ending in `/v1`. */
  readonly url: string;
  /** The secret of the first key, only when this start made it. */
  readonly firstKey: string | undefined;
  readonly edge: 'uws' | 'node';
  /** Metrics and probes; undefined when switched off. */
  readonly adminUrl: string | undefined;
  readonly ports: Ports;
  /** Reads `sluice.yaml` again; a bad file is refused and logged, the old one stays. */
  reload(): void;
  /** What is counted and measured here. */
  families(): readonly Family[];
  /** Why no traffic should come now; empty: it should. */
  unready(): Promise<readonly string[]>;
  /** Stops listening, lets running requests finish, then closes everything. */
  stop(options?: DrainOptions): Promise<void>;
}

export const startGateway = async (config: Config, log: Logger): Promise<Gateway> => {
  const closing: (() => Promise<void> | void)[] = [];
  /** What was opened last is closed first. */
  const closeAll = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  const opened = <T extends { close(): Promise<void> | void }>(part: T): T => {
    closing.push(() => part.close());
    return part;
  };

  try {
    const state = opened(await openState(config));
    const firstKey = await ensureBootstrapKey(state, config.bootstrapKey);
    const keys = createKeys(state);

    const catalog = opened(
      openCatalog({ file: config.configFile, log, onConfig: (next) => engines.replace(next.engines) }),
    );
    const media = opened(createMedia({ allowPrivate: config.allowPrivateUrls }));
    const codec = opened(createCodec());
    const engines = opened(
      createEngines(catalog.config().engines, {
        simulator: createSimulator({ codec }),
        log,
        env: process.env,
        media,
        codec,
      }),
    );

    const accounts = opened(await openAccounts(config, log));

    const metrics = opened(createMetrics());
    let url = config.publicUrl ?? '';
    const publicUrl = () => url;
    const usage = metrics.counted(accounts.usage);
    const blobs = opened(await openBlobs(config, { state, log, publicUrl }));
    const { jobs, webhooks } = opened(
      await openJobs(config, {
        state,
        blobs,
        catalog: catalog.catalog,
        engines,
        usage,
        events: accounts.events,
        publicUrl,
        log,
      }),
    );
    const admission = withOwnLimits(
      opened(await openAdmission(config, log)),
      opened(await openLimitsBook(state, { log })),
    );
    const offload = opened(createOffload());
    const vectors = opened(await openVectors(config));
    const embed = embedPassages({ admission, engines, usage, offload }, log);
    const ports: Ports = {
      keys,
      state,
      catalog: catalog.catalog,
      engines,
      admission,
      usage,
      ledger: accounts.ledger,
      media,
      offload,
      pictures: createPictures(),
      vectors,
      collections: opened(
        createCollections({ state, vectors, blobs, offload, catalog: catalog.catalog, embed, log }),
      ),
      codec,
      blobs,
      jobs,
      webhookSecrets: webhooks.secrets,
      allowPrivateUrls: config.allowPrivateUrls,
      publicUrl,
    };

    const readiness = createReadiness(ports);
    const admin = await openAdmin(config.admin, {
      metrics,
      readiness,
      ports,
      journalLag: () => accounts.usage.lag(),
    });
    if (admin !== undefined) opened(admin);

    const edge = await listen({
      routes: routes(ports),
      keys,
      log,
      host: config.host,
      port: config.port,
      shared: config.sharedPort,
      limits: defaultEdgeLimits,
      edge: config.edge,
      ...(config.tls === undefined ? {} : { tls: config.tls }),
    });
    closing.push(() => edge.drain(config.drainMs));
    metrics.watch(() => [
      gauge('sluice_http_in_flight', 'Requests whose answer is not sent yet.', edge.inFlight()),
      gauge('sluice_renders', 'Videos and songs that this process renders.', jobs.rendering()),
      gauge('sluice_webhook_attempts', 'Webhook deliveries under way.', webhooks.sender.sending),
    ]);
    url ||= `${edge.url}/v1`;
    readiness.enter();

    return {
      url,
      firstKey,
      edge: edge.name,
      adminUrl: admin?.url,
      ports,
      reload: () => void catalog.reload(),
      families: () => metrics.families(),
      unready: () => readiness.unready(),
      stop: async (options) => {
        readiness.leave();
        await edge.drain(config.drainMs, options);
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
};

/** `sluice serve`: runs until a signal ends it. Rejects with one clear sentence when it cannot start. */
export const serve = async (processes = 1): Promise<void> => {
  const config = loadConfig();
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const show = (text: string): void => void process.stdout.write(text);
  if (processes > 1) {
    const { supervise } = await import('./processes/supervise.ts');
    await supervise({ config, log, processes, show });
    return;
  }
  const gateway = await startGateway(config, log);
  const models = gateway.ports.catalog.list();
  const greeting: Welcome = {
    url: gateway.url,
    secret: gateway.firstKey ?? config.bootstrapKey,
    shownOnce: gateway.firstKey !== undefined && config.bootstrapKey === undefined,
    models: models.length,
    chatModel: models.find(({ kind }) => kind === 'chat')?.id,
    adminUrl: gateway.adminUrl,
    config,
  };
  if (config.sharedPort && process.send !== undefined) {
    const { joinProcesses } = await import('./processes/member.ts');
    const how = await joinProcesses(gateway, greeting).ended;
    log.info(how, 'draining');
    await gateway.stop(how);
    process.disconnect?.();
    return;
  }
  show(welcome(greeting));
  process.on('SIGHUP', () => gateway.reload());
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  log.info({ signal }, 'draining');
  // Whoever asks twice does not want to wait.
  process.once('SIGINT', () => process.exit(130));
  await gateway.stop();
};
