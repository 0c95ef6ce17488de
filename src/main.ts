/** The composition root: configuration in, a running gateway out; picks adapters, starts in order, drains in reverse. */
import type { Logger } from 'pino';
import { routes } from '../pipelines/routes.ts';
import { embedItems } from '../pipelines/vector-stores/embed.ts';
import { apiVersion } from '../schemas/openapi.ts';
import { openAdmission } from './adapters/admission/open.ts';
import { openBlobs } from './adapters/blobs/open.ts';
import { openState } from './adapters/state/open.ts';
import { openVectors } from './adapters/vectors/open.ts';
import { openAdmin } from './admin/open.ts';
import { gatewayQuestions } from './admin/questions.ts';
import { createReadiness } from './admin/readiness.ts';
import { openAccounts } from './billing/accounts.ts';
import type { Config } from './config.ts';
import { type DrainOptions, defaultEdgeLimits, listen } from './http/listen.ts';
import { createPictures } from './images/pictures.ts';
import { openJobs } from './jobs/open.ts';
import { ensureBootstrapKey } from './keys/bootstrap.ts';
import { createKeys } from './keys/keys.ts';
import { openLimitsBook } from './limits/book.ts';
import { withOwnLimits } from './limits/override.ts';
import type { MetricFamily } from './metrics/exposition.ts';
import { admissionFamilies, createMetrics } from './metrics/metrics.ts';
import { serviceFamilies } from './metrics/service-families.ts';
import { spanFamilies } from './metrics/span-families.ts';
import { createOffload } from './offload/offload.ts';
import { openEngines } from './open-engines.ts';
import { Opened } from './opened.ts';
import type { Ports } from './ports/ports.ts';
import { createTracing } from './tracing/tracing.ts';
import { createVectorStores } from './vector-stores/vector-stores.ts';

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
  families(): readonly MetricFamily[];
  /** Why no traffic should come now; empty: it should. */
  unready(): Promise<readonly string[]>;
  /** Stops listening, lets running requests finish, then closes everything. */
  stop(options?: DrainOptions): Promise<void>;
}

export const startGateway = async (config: Config, log: Logger): Promise<Gateway> => {
  const opened = new Opened();
  try {
    const state = opened.add(await openState(config));
    const firstKey = await ensureBootstrapKey(state, config.bootstrapKey);
    const keys = createKeys(state);

    const { catalog, engines, media, codec } = openEngines(config, log, opened);
    const accounts = opened.add(await openAccounts(config, log));

    const metrics = opened.add(createMetrics());
    const tracing = config.tracing && opened.add(createTracing(config.tracing, { version: apiVersion, log }));
    let url = config.publicUrl ?? '';
    const publicUrl = () => url;
    const counted = metrics.counted(accounts.usage);
    const usage = tracing?.watching(counted) ?? counted;
    const blobs = opened.add(await openBlobs(config, { state, log, publicUrl }));
    const { jobs, webhooks } = opened.add(
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
      opened.add(await openAdmission(config, log)),
      opened.add(await openLimitsBook(state, { log })),
    );
    const offload = opened.add(createOffload());
    const vectors = opened.add(await openVectors(config));
    const embed = embedItems({ admission, engines, usage, offload }, log);
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
      vectorStores: opened.add(
        createVectorStores({ state, vectors, blobs, offload, catalog: catalog.catalog, embed, log }),
      ),
      codec,
      blobs,
      jobs,
      webhookSecrets: webhooks.secrets,
      allowPrivateUrls: config.allowPrivateUrls,
      publicUrl,
    };

    const readiness = createReadiness(gatewayQuestions({ ...ports, engines }));
    const { sender } = webhooks;
    const { renders } = config.jobs;
    metrics.watch(() => [
      ...admissionFamilies(admission.stats()),
      ...serviceFamilies({ engines, accounts, jobs, sender, slots: renders }),
      ...spanFamilies(tracing?.stats()),
    ]);
    const admin = await openAdmin(config.admin, metrics, readiness);
    if (admin !== undefined) opened.add(admin);

    const edge = await listen({
      routes: routes(ports),
      keys,
      log,
      host: config.host,
      port: config.port,
      shared: config.sharedPort,
      limits: defaultEdgeLimits,
      tracing,
      edge: config.edge,
      ...(config.tls === undefined ? {} : { tls: config.tls }),
    });
    opened.onClose(() => edge.drain(config.drainMs));
    metrics.watch(() => edge.families());
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
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
};
