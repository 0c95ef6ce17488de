/** A row of the admin API: its path, its schemas, and what it does. */
import type { Logger } from 'pino';
import type { Static, TSchema } from 'typebox';
import { validate } from '../../pipelines/core/validate.ts';
import type { Method } from '../../pipelines/route.ts';
import type { AdminStatus } from '../../schemas/admin/status.ts';
import type { BudgetRecord } from '../../schemas/budgets.ts';
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import type { BudgetWithStatus } from '../budgets/status.ts';
import type { Catalog } from '../ports/catalog.ts';
import type { JobsOfAll } from '../ports/jobs.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { LiveRequests } from '../ports/live.ts';
import type { State } from '../ports/state.ts';
import type { Audit } from './audit.ts';
import type { Management } from './management.ts';

/** Plain values: a supervisor passes them on to its gateway processes. */
export interface AdminRequest {
  readonly id: string;
  readonly method: string;
  /** Below `/admin/v1`. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly authorization: string;
  readonly ifMatch: string;
  /** Empty: there is none. */
  readonly body: string;
}

export interface AdminReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type AdminApi = (request: AdminRequest) => Promise<AdminReply>;

export interface AdminEngines {
  health(): Readonly<Record<string, 'ok' | 'down'>>;
  /** Of those that have a row. */
  stats(): ReadonlyMap<string, EngineStats>;
  /** With every default; undefined: there is no such row. */
  row(engine: string): EngineRow | undefined;
  setDrained(engine: string, url: string, drained: boolean): boolean | undefined;
}

interface Blocks {
  readonly promptBlocks: number;
  readonly cachedBlocks: number;
}

interface EngineStats extends Blocks {
  readonly waiting: number;
  readonly discovery: string | undefined;
  readonly retries: { readonly made: number; readonly refused: number };
  readonly continuations: { readonly made: number; readonly failed: number };
  readonly replicas: readonly ReplicaStats[];
}

export interface ReplicaStats extends Blocks {
  readonly url: string;
  readonly alias: string;
  readonly circuit: 'closed' | 'open' | 'half-open';
  readonly openSince: number | undefined;
  readonly cooldownMs: number;
  readonly lastError: { readonly time: number; readonly message: string } | undefined;
  readonly busy: number;
  readonly drained: boolean;
  readonly weight: number;
  readonly share: number;
}

/** All that the resources look at and change, of one gateway process. */
export interface AdminParts {
  readonly log: Logger;
  readonly version: string;
  /** Base address for clients. */
  readonly publicUrl: () => string;
  /** Those that are configured. */
  readonly services: AdminStatus['services'];
  readonly state: State;
  readonly ledger: Pick<Ledger, 'totals' | 'list'>;
  readonly catalog: Pick<Catalog, 'inService'>;
  readonly engines: AdminEngines;
  /** All rows of the catalog, those that are not in service too. */
  readonly models: () => readonly Model[];
  /** Returns why the file was refused; undefined: it was not. */
  readonly reload: () => string | undefined;
  /** Of the last reading. */
  readonly refusal: () => string | undefined;
  /** Completion tokens that were recorded so far, by model. */
  readonly tokens: () => ReadonlyMap<string, number>;
  readonly requests: LiveRequests;
  readonly jobs: JobsOfAll;
  /** What of them is used, reserved and left, in the same order. */
  readonly budgetStatus: (budgets: readonly BudgetRecord[]) => Promise<readonly BudgetWithStatus[]>;
  readonly unready: () => Promise<readonly string[]>;
}

export interface AdminCall<Body> {
  readonly parts: AdminParts;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Body;
  /** The functions of the `sluice` command; what they change is noted in the audit log. */
  readonly manage: Management;
  /** For changes of anything else. */
  readonly audit: Audit;
  /** Throws 412 unless the record is the one that `If-Match` names; undefined without that header. */
  readonly expect: ((current: object) => void) | undefined;
}

export interface AdminAnswer {
  readonly value: unknown;
  /** 200 unless given. */
  readonly status?: number;
  /** What `ETag` is made of. */
  readonly record?: object;
}

/** One reply of those of all gateway processes. At least one is given. */
export type Combine = (replies: readonly AdminReply[]) => AdminReply;

export interface AdminRoute {
  readonly method: Method;
  /** Below `/admin/v1`; `{name}` is one segment. */
  readonly path: string;
  readonly access?: 'public';
  readonly doc: RouteDoc;
  /** Throws what names the field. */
  readonly check?: (body: unknown) => unknown;
  readonly run: (call: AdminCall<never>) => Promise<AdminAnswer>;
  /** Of what each process knows only for itself; absent: any process can reply. */
  readonly combine?: Combine;
}

interface RouteOptions<Schema extends TSchema> extends Omit<AdminRoute, 'check' | 'run'> {
  /** Schema of the request body. */
  readonly body?: Schema;
  readonly run: (call: AdminCall<Static<Schema>>) => Promise<AdminAnswer>;
}

export const route = <Schema extends TSchema>({
  body,
  doc,
  run,
  ...rest
}: RouteOptions<Schema>): AdminRoute => ({
  ...rest,
  run,
  doc: body === undefined ? doc : { ...doc, body: json(body) },
  ...(body === undefined ? {} : { check: lazily(() => validate(body)) }),
});

/** Compiled at the first use: most commands and processes never need it. */
const lazily = <In, Out>(make: () => (value: In) => Out): ((value: In) => Out) => {
  let made: ((value: In) => Out) | undefined;
  return (value) => {
    made ??= make();
    return made(value);
  };
};
