/** Starts a gateway: opens its parts in order, listens, and closes them in reverse. */
import type { Logger } from 'pino';
import { lostEvents } from '../pipelines/core/last-events.ts';
import { routes } from '../pipelines/routes.ts';
import { embedItems } from '../pipelines/vector-stores/embed.ts';
import { apiVersion } from '../schemas/openapi.ts';
import { openAdmission } from './adapters/admission/open.ts';
import { linkOrigin } from './adapters/blobs/s3-settings.ts';
import { openState } from './adapters/state/open.ts';
import { openStreams } from './adapters/streams/open.ts';
import { openVectors } from './adapters/vectors/open.ts';
import { createAdminApi, errorReply } from './admin/api.ts';
import { gatewayChecks } from './admin/checks.ts';
import { withDetachedStreams } from './admin/live-requests.ts';
import { openAdmin } from './admin/open.ts';
import type { AdminApi } from './admin/route.ts';
import { createAuthenticate, ensureFirstToken } from './admin/tokens.ts';
import { budgetsStatus } from './budgets/status.ts';
import { sessionHeaders } from './catalog/session-headers.ts';
import type { CodecInfo } from './codec/provider.ts';
import { openService } from './compose.ts';
import type { Config } from './config.ts';
import { openPages } from './console/open.ts';
import { fail } from './errors.ts';
import { openAll } from './helpers/opened.ts';
import { type DrainOptions, defaultEdgeLimits, listen } from './http/listen.ts';
import { createPictures } from './images/pictures.ts';
import { ensureBootstrapKey } from './keys/bootstrap.ts';
import { createKeys } from './keys/keys.ts';
import { createLastUsed } from './keys/last-used.ts';
import { withOwnLimits } from './limits/override.ts';
import type { MetricFamily } from './metrics/exposition.ts';
import { FallbackCounts } from './metrics/fallbacks.ts';
import { admissionFamilies, spanFamilies, storeFamilies } from './metrics/metrics.ts';
import { sharedFamilies, storageFamilies } from './metrics/shared-families.ts';
import { streamFamilies } from './metrics/stream-families.ts';
import { createOffload } from './offload/offload.ts';
import type { Allowances } from './ports/allowances.ts';
import type { Ports } from './ports/ports.ts';
import { openShared } from './shared-store.ts';
import { createTokenCounts } from './tokens/token-counts.ts';
import { createTracing } from './tracing/tracing.ts';
import { createVectorStores } from './vector-stores/vector-stores.ts';

export interface Gateway {
  /** Base address for clients, ending in `/v1`. */
  readonly url: string;
  /** The secret of the first key, if this start created it. */
  readonly firstKey: string | undefined;
  /** Address of the page for client developers; undefined: switched off. */
  readonly page: string | undefined;
  readonly edge: 'uws' | 'node';
  /** Metrics, probes and the admin API; undefined when switched off. */
  readonly adminUrl: string | undefined;
  /** Token of the admin API, if this start created it. */
  readonly adminToken: string | undefined;
  /** For a supervisor, which has the admin port of all its processes. */
  readonly adminApi: AdminApi;
  readonly ports: Ports;
  /** What is used of budgets. */
  readonly allowances: Pick<Allowances, 'used'>;
  /** The ffmpeg in use; found after the start. */
  readonly codecInfo: Promise<CodecInfo | undefined>;
  reload(): void;
  families(): readonly MetricFamily[];
  /** Why it should get no traffic now; empty: it should. */
  unready(): Promise<readonly string[]>;
  /** Stops listening, lets running requests finish, then closes everything. */
  stop(options?: DrainOptions): Promise<void>;
}

/** Rejects with one clear sentence when it cannot start. */
export const startGateway = (config: Config, log: Logger): Promise<Gateway> =>
  openAll(async (opened) => {
    const state = opened.add(await openState(config));
    const shared = await openShared(config, { state, opened, log });
    if (config.bootstrapKey !== undefined) await ensureBootstrapKey(state, config.bootstrapKey);
    const lastUsed = createLastUsed(state, (err) => log.warn({ err }, 'last use of a key not noted'));
    const keys = createKeys(state, { onVanished: shared.restore, lastUsed });
    const tracing = config.tracing && opened.add(createTracing(config.tracing, { version: apiVersion, log }));
    let url = config.publicUrl ?? '';
    const publicUrl = () => url;
    const watchUsage = tracing?.watching;
    const service = await openService({ config, log, opened, state, publicUrl, watchUsage });
    const { catalog, engines, media, codec, accounts, usage, metrics, reserve, blobs, jobs, webhooks } =
      service;
    const { quotas } = service;
    const admission = withOwnLimits(opened.add(await openAdmission(config, log)), service.limits);
    const streams = opened.add(await openStreams(config, { log, lost: lostEvents }));
    const offload = opened.add(createOffload());
    const pictures = createPictures({ codec });
    const vectors = opened.add(await openVectors(config, reserve));
    const embed = embedItems({ admission, quotas, engines, usage, offload }, log);
    const vectorStores = opened.add(
      createVectorStores({ state, vectors, blobs, offload, catalog, embed, log }, { limits: config.storage }),
    );
    const fallbacks = new FallbackCounts();
    const ports: Ports = {
      keys,
      state,
      catalog,
      engines,
      fallbacks,
      admission,
      quotas,
      streams,
      usage,
      ledger: accounts.ledger,
      media,
      offload,
      tokenCounts: createTokenCounts(offload),
      pictures,
      vectors,
      vectorStores,
      codec,
      blobs,
      jobs,
      webhookSecrets: webhooks.secrets,
      allowPrivateUrls: config.allowPrivateUrls,
      provider: config.provider,
      publicUrl,
    };
    metrics.watch(() => [
      ...admissionFamilies(admission.stats()),
      ...streamFamilies(streams.stats()),
      ...fallbacks.families(),
      ...sharedFamilies({ ...offload.stats(), ...codec.stats(), ...pictures.stats(), ...media.stats() }),
      ...storageFamilies(vectorStores),
      ...spanFamilies(tracing?.stats()),
      ...storeFamilies(shared.stats()),
    ]);
    const checks = gatewayChecks({ state, usage, catalog, engines });
    let adminApi: AdminApi | undefined;
    const startedApi: AdminApi = (request) =>
      adminApi?.(request) ??
      Promise.resolve(errorReply(fail('unavailable', 'The gateway is starting'), request.id));
    const pages = openPages({
      enabled: config.console,
      publicUrl,
      mediaOrigins: config.s3 === undefined ? [] : [linkOrigin(config.s3)],
      log,
    });
    const admin = await openAdmin(opened, config.admin, metrics, checks, startedApi, pages?.console);

    const edge = await listen({
      routes: routes(ports),
      pages: pages?.public ?? [],
      keys,
      log,
      host: config.host,
      port: config.port,
      shared: config.sharedPort,
      limits: {
        ...defaultEdgeLimits,
        bodyBytes: config.bodyBytes,
        bodyBytesPerSubscription: config.bodyBytesPerSubscription,
      },
      sessionHeaders: sessionHeaders(catalog),
      tracing,
      edge: config.edge,
      responseHeaders: config.responseHeaders,
      trustedProxies: config.trustedProxies,
      ...(config.tls === undefined ? {} : { tls: config.tls }),
    });
    opened.onClose(() => edge.drain(config.drainMs));
    metrics.watch(() => edge.families());
    url ||= `${edge.url}/v1`;
    // Last of all: a start that fails must not have created a key that nobody has seen.
    const firstKey = config.bootstrapKey === undefined ? await ensureBootstrapKey(state) : undefined;
    const adminToken =
      config.adminApi && config.adminToken === undefined ? await ensureFirstToken(state) : undefined;
    adminApi = createAdminApi(
      {
        ...{ log, version: apiVersion, state, ledger: accounts.ledger, catalog, engines, jobs },
        ...{ publicUrl, services: servicesOf(config), models: service.models },
        ...{ reload: service.reload, refusal: service.refusal },
        tokens: () => metrics.completionTokens(),
        budgetStatus: (budgets) => budgetsStatus(service.allowances, budgets),
        requests: withDetachedStreams(edge.requests, streams),
        unready: admin.unready,
      },
      createAuthenticate(state, config.adminToken),
    );
    admin.started();

    return {
      url,
      firstKey,
      page: pages && url.replace(/v1$/, ''),
      edge: edge.name,
      adminUrl: admin.url,
      adminToken,
      adminApi,
      ports,
      allowances: service.allowances,
      codecInfo: service.codecWatch.look(),
      reload: () => void service.reload(),
      families: () => metrics.families(),
      unready: admin.unready,
      stop: async (options) => {
        admin.stopping();
        await edge.drain(config.drainMs, options);
        await opened.close();
      },
    };
  });

const servicesOf = ({ redis, kafka, clickHouse, qdrant, s3 }: Config) => ({
  redis: redis !== undefined,
  kafka: kafka !== undefined,
  clickhouse: clickHouse !== undefined,
  qdrant: qdrant !== undefined,
  s3: s3 !== undefined,
});
