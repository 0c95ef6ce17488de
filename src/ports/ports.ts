/** Everything a pipeline may reach; made once in main, handed to every pipeline. */
import type { Admission } from './admission.ts';
import type { Blobs } from './blobs.ts';
import type { Catalog } from './catalog.ts';
import type { Codec } from './codec.ts';
import type { Engines } from './engines/engine.ts';
import type { Fallbacks } from './engines/fallbacks.ts';
import type { TokenCounts } from './engines/token-counts.ts';
import type { Jobs, WebhookSecrets } from './jobs.ts';
import type { Keys } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { Media } from './media.ts';
import type { Offload } from './offload.ts';
import type { Pictures } from './pictures.ts';
import type { Quotas } from './quotas.ts';
import type { Shared } from './shared.ts';
import type { State } from './state.ts';
import type { Streams } from './streams.ts';
import type { UsageLog } from './usage.ts';
import type { VectorStores } from './vector-stores.ts';
import type { Vectors } from './vectors.ts';

export interface Ports {
  readonly keys: Keys;
  readonly state: State;
  readonly catalog: Catalog;
  readonly engines: Engines;
  readonly fallbacks: Fallbacks;
  readonly admission: Admission;
  readonly quotas: Quotas;
  readonly streams: Streams;
  readonly usage: UsageLog;
  readonly ledger: Pick<Ledger, 'totals' | 'list'>;
  readonly media: Shared<Media>;
  readonly offload: Shared<Offload>;
  readonly tokenCounts: TokenCounts;
  readonly pictures: Shared<Pictures>;
  readonly vectors: Vectors;
  readonly vectorStores: VectorStores;
  readonly codec: Shared<Codec>;
  readonly blobs: Blobs;
  readonly jobs: Jobs;
  readonly webhookSecrets: WebhookSecrets;
  /** For tests: addresses that clients give may lead to this machine and its networks. */
  readonly allowPrivateUrls: boolean;
  /** The operator's name, in chat responses. */
  readonly provider: string;
  /** Absolute address clients use, ending in `/v1`: what links start with. */
  readonly publicUrl: () => string;
}
