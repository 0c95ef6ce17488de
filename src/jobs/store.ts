/** Jobs over the State port: every change a compare-and-set of one record, its place in the queues changed with it. */
import type { JobRecord, RenderModelRecord } from '../../schemas/jobs.ts';
import type { JobPage, JobType } from '../ports/jobs.ts';
import type { State, StoredRecord } from '../ports/state.ts';
import { choresGroup, indexOf, queueOf } from './transitions.ts';

export type StoredJob = StoredRecord<JobRecord>;

const types: readonly JobType[] = ['video', 'music'];
const kindOf = (type: JobType): string => `${type}-job`;
const typeOf = (id: string): JobType => (id.startsWith('music_') ? 'music' : 'video');

/** Models a worker looks after; more than anybody serves. */
const mostModels = 1_000;

export class JobStore {
  readonly #state: State;
  /** Models this process has put on the list. */
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

  /** The job as it now is; undefined when it is not what it was. */
  async move(
    { version, owner, value: { type } }: StoredJob,
    next: JobRecord,
  ): Promise<StoredJob | undefined> {
    const moved = await this.#state.update(kindOf(type), next.id, version, { value: next, ...indexed(next) });
    return moved ? { id: next.id, version: version + 1, owner, value: next } : undefined;
  }

  remove({ id, version, value }: StoredJob): Promise<boolean> {
    return this.#state.remove(kindOf(value.type), id, version);
  }

  list(type: JobType, subscription: string, page: JobPage): Promise<readonly StoredJob[]> {
    return this.#state.list<JobRecord>(kindOf(type), { ...page, owner: subscription });
  }

  /** First in the queue of a model. */
  async next({ type, model }: RenderModelRecord): Promise<StoredJob | undefined> {
    const query = { group: queueOf(model), until: Number.MAX_SAFE_INTEGER, limit: 1 };
    const [first] = await this.#state.due<JobRecord>(kindOf(type), query);
    return first;
  }

  /** Jobs of the same model that came before it. */
  async ahead({ type, model, queued, created }: JobRecord): Promise<number> {
    const query = { group: queueOf(model), until: queued ?? created };
    return Math.max(0, (await this.#state.countDue(kindOf(type), query)) - 1);
  }

  async chores(until: number, limit: number): Promise<readonly StoredJob[]> {
    const query = { group: choresGroup, until, limit };
    const found = await Promise.all(types.map((type) => this.#state.due<JobRecord>(kindOf(type), query)));
    return found.flat();
  }

  /** Those that jobs were ever made for. */
  async models(): Promise<readonly RenderModelRecord[]> {
    const found = await this.#state.list<RenderModelRecord>('render-model', {
      limit: mostModels,
      order: 'asc',
    });
    return found.map(({ value }) => value);
  }
}

const indexed = (job: JobRecord) => {
  const index = indexOf(job);
  return index === undefined ? {} : { index };
};
