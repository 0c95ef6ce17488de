/** `GET /live`: makes one snapshot per interval for all who listen, and sends it to those that keep up. */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { LivePart, LiveRow, LiveSnapshot } from '../../schemas/admin/live.ts';
import { atMost } from './at-most.ts';
import { readInterval } from './resources/live.ts';
import type { AdminApi, AdminReply, AdminRequest } from './route.ts';

/** Each holds one of the port's connections. */
const mostListeners = 16;

export const isLive = ({ method, path }: AdminRequest): boolean => method === 'GET' && path === '/live';

export class LiveListeners {
  readonly #api: AdminApi;
  readonly #groups = new Map<number, Group>();
  readonly #limited = atMost(mostListeners, `At most ${mostListeners} clients can listen to what runs`);

  constructor(api: AdminApi) {
    this.#api = api;
  }

  /** Resolves when the client has left, or its token was revoked. */
  async listen(request: AdminRequest, response: ServerResponse): Promise<void> {
    await this.#limited(() => this.#send(request, response));
  }

  async #send(request: AdminRequest, response: ServerResponse): Promise<void> {
    const interval = readInterval(new URLSearchParams(request.query));
    const first = await this.#api({ ...request, query: `interval=${interval}` });
    if (first.status !== 200) {
      response.writeHead(first.status, first.headers).end(first.body);
      return;
    }
    if (response.destroyed) return;
    response.writeHead(200, { ...first.headers, 'content-type': 'text/event-stream' });
    const part = JSON.parse(first.body) as LivePart;
    const listener = new Listener(request, response);
    listener.offer(eventOf(snapshotOf(part, undefined, interval)));
    const group = this.#groups.get(interval) ?? this.#open(interval, part);
    await group.add(listener);
  }

  #open(interval: number, part: LivePart): Group {
    const group = new Group(this.#api, interval, part);
    this.#groups.set(interval, group);
    group.onEmpty = () => this.#groups.delete(interval);
    return group;
  }
}

class Listener {
  readonly request: AdminRequest;
  readonly #response: ServerResponse;
  /** It has not taken the snapshot before: this one is not for it. */
  #isBehind = false;

  constructor(request: AdminRequest, response: ServerResponse) {
    this.request = request;
    this.#response = response;
    response.on('drain', () => {
      this.#isBehind = false;
    });
  }

  offer(event: string): void {
    if (this.#isBehind || this.#response.destroyed) return;
    this.#isBehind = !this.#response.write(event);
  }

  end(): void {
    this.#response.end();
  }

  onClose(closed: () => void): void {
    if (this.#response.destroyed) closed();
    else this.#response.once('close', closed);
  }
}

/** Those with the same interval. */
class Group {
  readonly #api: AdminApi;
  readonly #interval: number;
  readonly #listeners = new Set<Listener>();
  readonly #ended = new AbortController();
  #previous: LivePart;
  #running: Promise<void> | undefined;
  onEmpty: () => void = () => undefined;

  constructor(api: AdminApi, interval: number, first: LivePart) {
    this.#api = api;
    this.#interval = interval;
    this.#previous = first;
  }

  /** Resolves when it is gone; rejects when no more snapshots can be made. */
  add(listener: Listener): Promise<void> {
    this.#listeners.add(listener);
    this.#running ??= this.#run();
    const gone = new Promise<void>((resolve) => {
      listener.onClose(() => {
        this.#remove(listener);
        resolve();
      });
    });
    return Promise.race([gone, this.#running]);
  }

  #remove(listener: Listener): void {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
    this.#ended.abort();
    this.onEmpty();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    for (let next = performance.now() + this.#interval; ; next += this.#interval) {
      // Where the last one took longer than the interval, those in between are left out.
      next = Math.max(next, performance.now());
      await delay(next - performance.now(), undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.#snapshot();
    }
  }

  /** With the token of each in turn, so that one that was revoked is noticed; its listener is let go. */
  async #part(): Promise<AdminReply | undefined> {
    const query = `interval=${this.#interval}&after=${this.#previous.cursor}`;
    for (;;) {
      const [listener] = this.#listeners;
      if (listener === undefined) return undefined;
      this.#listeners.delete(listener);
      this.#listeners.add(listener);
      const reply = await this.#api({ ...listener.request, query });
      if (reply.status !== 401) return reply;
      this.#remove(listener);
      listener.end();
    }
  }

  async #snapshot(): Promise<void> {
    const reply = await this.#part();
    // A supervisor whose processes are just replaced has no reply for a moment.
    if (reply?.status !== 200) return;
    const part = JSON.parse(reply.body) as LivePart;
    const event = eventOf(snapshotOf(part, this.#previous, this.#interval));
    this.#previous = part;
    for (const each of this.#listeners) each.offer(event);
  }
}

const eventOf = (snapshot: LiveSnapshot): string => `event: snapshot\ndata: ${JSON.stringify(snapshot)}\n\n`;

/** Rates are of what was generated since `previous`; null without it. */
export const snapshotOf = (
  part: LivePart,
  previous: LivePart | undefined,
  interval: number,
): LiveSnapshot => {
  const { time, processes, counts, requests, ended, ended_count } = part;
  const rates = new Rates(part, previous);
  const models = part.models
    .map(({ tokens: _, ...model }) => ({ ...model, tokens_per_second: rates.ofModel(model.id) }))
    .filter(isActive);
  return {
    ...{ object: 'live.snapshot', time, interval_ms: interval, processes, counts },
    tokens_per_second: rates.ofAll(),
    models,
    engines: part.engines.map((engine) => ({
      ...engine,
      tokens_per_second: rates.ofEngine(engine.id),
    })),
    requests: requests.map((row) => ({ ...row, tokens_per_second: rates.ofRequest(row) })),
    ...{ ended, ended_count },
  };
};

const isActive = (model: LiveSnapshot['models'][number]): boolean =>
  model.receiving + model.queued + model.running + model.streaming > 0 || (model.tokens_per_second ?? 0) > 0;

class Rates {
  readonly #part: LivePart;
  /** Undefined: there are none. */
  readonly #seconds: number | undefined;
  readonly #before = new Map<string, number>();
  readonly #rows = new Map<string, number>();

  constructor(part: LivePart, previous: LivePart | undefined) {
    this.#part = part;
    // What a process had generated that is missing in one of the two would count as generated in between.
    const isAlike = previous !== undefined && pidsOf(previous) === pidsOf(part) && part.time > previous.time;
    this.#seconds = isAlike ? (part.time - previous.time) / 1000 : undefined;
    for (const { id, tokens } of previous?.models ?? []) this.#before.set(id, tokens);
    for (const { id, completion_tokens } of previous?.requests ?? []) this.#rows.set(id, completion_tokens);
  }

  ofModel(id: string): number | null {
    const tokens = this.#part.models.find((model) => model.id === id)?.tokens ?? 0;
    return this.#rate(tokens - (this.#before.get(id) ?? 0));
  }

  ofAll(): number | null {
    return this.#rate(this.#generated(() => true));
  }

  ofEngine(id: string): number | null {
    return this.#rate(this.#generated((engine) => engine === id));
  }

  ofRequest({ id, completion_tokens, age_ms }: Omit<LiveRow, 'tokens_per_second'>): number | null {
    const isNew = age_ms <= (this.#seconds ?? 0) * 1000;
    const before = this.#rows.get(id) ?? (isNew ? 0 : undefined);
    return before === undefined ? null : this.#rate(completion_tokens - before);
  }

  #generated(fits: (engine: string | null) => boolean): number {
    return this.#part.models
      .filter(({ engine }) => fits(engine))
      .reduce((sum, { id, tokens }) => sum + tokens - (this.#before.get(id) ?? 0), 0);
  }

  /** Estimates that the engine corrects may fall. */
  #rate(tokens: number): number | null {
    return this.#seconds === undefined ? null : Math.round((Math.max(0, tokens) / this.#seconds) * 10) / 10;
  }
}

const pidsOf = ({ cursor }: LivePart): string =>
  cursor
    .split(',')
    .map((part) => part.split(':')[0])
    .sort()
    .join();
