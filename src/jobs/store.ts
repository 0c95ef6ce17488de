/** Jobs in the State port: every change is a compare-and-set of one record and its index. */
import type { JobRecord, RenderModelRecord } from '../../schemas/jobs.ts';
import { everyRecord } from '../helpers/stored-records.ts';
import type { JobPage, JobType } from '../ports/jobs.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import { indexOf, maintenanceGroup, queueOf } from './transitions.ts';

export type StoredJob = StoredRecord<JobRecord>;

const types: readonly JobType[] = ['video', 'music'];
const kindOf = (type: JobType): string => `${type}-job`;
const typeOf = (id: string): JobType => (id.startsWith('music_') ? 'music' : 'video');

/** Models that a worker polls; more than anybody serves. */
const maxModels = 1_000;

export class JobStore {
  readonly #state: State;
  /** Models that this process has listed. */
  readonly #listed = new Set<string>();

  constructor(state: State) {
    this.#state = state;
  }

  /** False when the id is taken. */
  async create(job: JobRecord): Promise<boolean> {
    const listed = `${job.type}:${job.model}`;
    if (!this.#listed.has(listed)) {
      await this.#state.create<RenderModelRecord>('render-model', {
        id: listed,
        owner: 'installation',
        value: { type: job.type, model: job.model },
      });
      this.#listed.add(listed);
    }
    return this.#state.create(kindOf(job.type), {
      id: job.id,
      owner: job.subscription,
      value: job,
      ...indexed(job),
    });
  }

  get(id: string): Promise<StoredJob | undefined> {
    return this.#state.get<JobRecord>(kindOf(typeOf(id)), id);
  }

  /** Undefined when the stored job has changed since it was read. */
  async update(
    { version, owner, value: { type } }: StoredJob,
    next: JobRecord,
  ): Promise<StoredJob | undefined> {
    const updated = await this.#state.update(kindOf(type), next.id, version, {
      value: next,
      ...indexed(next),
    });
    return updated ? { id: next.id, version: version + 1, owner, value: next } : undefined;
  }

  remove({ id, version, value }: StoredJob): Promise<boolean> {
    return this.#state.remove(kindOf(value.type), id, version);
  }

  /** Without a subscription, of all of them. */
  list(type: JobType, subscription: string | undefined, page: JobPage): Promise<readonly StoredJob[]> {
    return this.#state.list<JobRecord>(kindOf(type), {
      ...page,
      ...(subscription === undefined ? {} : { owner: subscription }),
    });
  }

  /** First in the queue of a model. */
  async next({ type, model }: RenderModelRecord): Promise<StoredJob | undefined> {
    const query = { group: queueOf(model), until: Number.MAX_SAFE_INTEGER, limit: 1 };
    const [first] = await this.#state.due<JobRecord>(kindOf(type), query);
    return first;
  }

  /** Jobs of the same model ahead of it. */
  async ahead({ type, model, queued, created }: JobRecord): Promise<number> {
    const query = { group: queueOf(model), until: queued ?? created };
    return Math.max(0, (await this.#state.countDue(kindOf(type), query)) - 1);
  }

  async maintenanceDue(until: number, limit: number): Promise<readonly StoredJob[]> {
    const query = { group: maintenanceGroup, until, limit };
    const found = await Promise.all(types.map((type) => this.#state.due<JobRecord>(kindOf(type), query)));
    return found.flat();
  }

  /** That have not ended, or are not charged yet. */
  async *unsettled(): AsyncGenerator<JobRecord> {
    for (const type of types)
      for await (const { value } of everyRecord<JobRecord>(this.#state, kindOf(type)))
        if (value.settled !== true) yield value;
  }

  /** Models that ever had a job. */
  async models(): Promise<readonly RenderModelRecord[]> {
    const found = await this.#state.list<RenderModelRecord>('render-model', {
      limit: maxModels,
      order: 'asc',
    });
    return found.map(({ value }) => value);
  }
}

const indexed = (job: JobRecord) => {
  const index = indexOf(job);
  return index === undefined ? {} : { index };
};
