/** Opens the parts that gateways and workers share, from the store to rendering jobs. */
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Logger } from 'pino';
import type { Model } from '../schemas/catalog.ts';
import type { Accounts } from './accounts.ts';
import { openBlobs } from './adapters/blobs/open.ts';
import { type DiskReserve, openDiskReserve } from './adapters/disk-reserve.ts';
import { readJobs } from './adapters/events/open.ts';
import { watchThresholds } from './budgets/thresholds.ts';
import { openCatalog } from './catalog/watch.ts';
import { createCodec } from './codec/codec.ts';
import { type CodecWatch, watchCodec } from './codec/watch.ts';
import type { Config } from './config.ts';
import { createEngines, type EngineTable } from './engines/table.ts';
import type { Opened } from './helpers/opened.ts';
import { createJobs, type JobParts, type RunningJobs } from './jobs/jobs.ts';
import { createJobEvents, Notices } from './jobs/notices.ts';
import { plainRecord } from './jobs/render-record.ts';
import { resumeQuotas } from './jobs/resume-quotas.ts';
import type { LimitsBook } from './limits/book.ts';
import { createMedia } from './media/media.ts';
import { createLookup } from './media/resolver.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { quotaFamilies } from './metrics/quota-families.ts';
import { codecFamilies, serviceFamilies } from './metrics/service-families.ts';
import { diskFamilies } from './metrics/shared-families.ts';
import type { Allowances } from './ports/allowances.ts';
import type { Blobs } from './ports/blobs.ts';
import type { Catalog } from './ports/catalog.ts';
import type { Codec } from './ports/codec.ts';
import type { Events } from './ports/events.ts';
import type { Media } from './ports/media.ts';
import type { Quotas } from './ports/quotas.ts';
import type { Shared } from './ports/shared.ts';
import type { State } from './ports/state.ts';
import type { UsageLog } from './ports/usage.ts';
import { openAccountsAndQuotas } from './quotas.ts';
import { createSimulator } from './simulator/simulator.ts';
import { createWebhooks, type Webhooks } from './webhooks/webhooks.ts';

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly opened: Opened;
  readonly state: State;
  /** Address of links in responses, once it is known. */
  readonly publicUrl: () => string;
  /** Sees every usage event as it is recorded. */
  readonly watchUsage?: ((usage: UsageLog) => UsageLog) | undefined;
}

export interface Service {
  readonly catalog: Catalog;
  readonly engines: EngineTable;
  readonly media: Shared<Media>;
  readonly codec: Shared<Codec>;
  readonly accounts: Accounts;
  readonly usage: UsageLog;
  readonly quotas: Quotas;
  readonly limits: LimitsBook;
  readonly allowances: Allowances;
  readonly metrics: Metrics;
  readonly reserve: DiskReserve;
  readonly blobs: Blobs;
  readonly jobs: RunningJobs;
  readonly webhooks: Webhooks;
  readonly codecWatch: CodecWatch;
  /** Reads `sluice.yaml` again; an invalid file is logged, and the previous one stays in use. Returns why it was refused. */
  reload(): string | undefined;
  /** Why the last reading was refused; undefined: it was not. */
  refusal(): string | undefined;
  /** All rows of the catalog, those that are not in service too. */
  models(): readonly Model[];
}

export const openService = async (options: ServiceOptions): Promise<Service> => {
  const { config, log, opened, state, publicUrl, watchUsage } = options;
  const { file, engines, media, codec } = openEngines(config, log, opened);
  const { catalog } = file;
  const { accounts, ...limiting } = await openAccountsAndQuotas(config, { state, opened, log });
  const { quotas, limits } = limiting;
  const metrics = opened.add(createMetrics());
  const counted = metrics.counted(accounts.usage);
  const usage = watchUsage?.(counted) ?? counted;
  const reserve = await openDiskReserve(config.dataDir, config.diskReserveBytes);
  const blobs = opened.add(await openBlobs(config, { reserve, state, log, publicUrl }));
  const { events } = accounts;
  const { jobs, webhooks } = opened.add(
    await openJobs(config, { state, blobs, codec, catalog, engines, usage, quotas, events, publicUrl, log }),
  );
  opened.add(watchThresholds({ ...limiting, notify: webhooks.notifyBudget, log }));
  const { sender } = webhooks;
  const slots = config.jobs.renders;
  const codecWatch = watchCodec({ ffmpeg: config.ffmpeg }, log);
  metrics.watch(() => [
    ...serviceFamilies({ engines, accounts, jobs, sender, slots }),
    ...codecFamilies(codecWatch.current()),
    ...diskFamilies(reserve.stats()),
    ...quotaFamilies(limiting.stats),
  ]);
  const reload = (): string | undefined => (file.reload() ? undefined : file.refusal());
  return {
    catalog,
    engines,
    media,
    codec,
    codecWatch,
    accounts,
    usage,
    quotas,
    limits,
    allowances: limiting.allowances,
    metrics,
    reserve,
    blobs,
    jobs,
    webhooks,
    reload,
    refusal: () => file.refusal(),
    models: () => file.config().models,
  };
};

/** The catalog and the engines behind it, kept in step with `sluice.yaml`. */
const openEngines = (config: Config, log: Logger, opened: Opened) => {
  const file = opened.add(
    openCatalog({ file: config.configFile, log, onConfig: (next) => engines.replace(next.engines) }),
  );
  const media = opened.add(createMedia(outgoing(config)));
  const codec = opened.add(createCodec({ ffmpeg: config.ffmpeg }));
  checkTemporaryFolder(log);
  const simulator = createSimulator({ codec });
  const engines: EngineTable = opened.add(
    createEngines(file.config().engines, { simulator, log, env: config.env, media, codec }),
  );
  return { file, engines, media, codec };
};

/** How addresses that clients give are reached: where they may be this machine's, by the names that it knows. */
const outgoing = ({ allowPrivateUrls, dnsServers }: Config) => ({
  allowPrivate: allowPrivateUrls,
  lookup: allowPrivateUrls ? undefined : createLookup({ servers: dnsServers }),
});

/** With Kafka, processes notify each other of jobs at once; without it, or while it is unavailable, they poll. */
const openJobs = async (
  config: Config,
  {
    events,
    ...parts
  }: Omit<JobParts, 'notify' | 'quotas'> & { readonly events: Events; readonly quotas: Quotas },
) => {
  const { log } = parts;
  const jobEvents = createJobEvents(events, log);
  const notices = new Notices((job, notice) => jobEvents.publish(job, notice));
  const subscription =
    config.kafka === undefined ? undefined : await readJobs(config.kafka, jobEvents.receiver(notices), log);
  const webhooks = createWebhooks({ ...parts, recordOf: plainRecord }, outgoing(config));
  await resumeQuotas(parts.state, parts.quotas);
  const jobs = createJobs({ ...parts, notify: webhooks.notify }, { ...config.jobs, notices });
  return {
    jobs,
    webhooks,
    close: async () => {
      await subscription?.close();
      await jobs.close();
      await webhooks.close();
    },
  };
};

/** A container's root may be read-only: better logged at the start than found by the first song that fails. */
const checkTemporaryFolder = (log: Logger): void => {
  try {
    accessSync(tmpdir(), constants.W_OK);
  } catch (error) {
    log.warn(
      { err: error },
      `${tmpdir()} cannot be written: sounds and films will fail; TMPDIR names another`,
    );
  }
};
