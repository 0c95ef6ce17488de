/** `GET /logs?follow=true`: requests that ended last as lines of JSON, and so on as they end. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogList } from '../../schemas/admin/requests.ts';
import { atMost } from './at-most.ts';
import type { AdminApi, AdminReply, AdminRequest } from './route.ts';

/** Each holds one of the port's connections. */
const mostFollowers = 16;
const pollMs = 500;
/** Processes whose place is remembered. */
const mostProcesses = 300;

export const isFollowing = ({ method, path, query }: AdminRequest): boolean =>
  method === 'GET' && path === '/logs' && new URLSearchParams(query).get('follow') === 'true';

export class LogFollowers {
  readonly #api: AdminApi;
  readonly #limited = atMost(mostFollowers, `At most ${mostFollowers} clients can follow the log`);

  constructor(api: AdminApi) {
    this.#api = api;
  }

  async follow(request: AdminRequest, response: ServerResponse): Promise<void> {
    await this.#limited(() => this.#send(request, response));
  }

  async #send(request: AdminRequest, response: ServerResponse): Promise<void> {
    const first = await this.#api(request);
    if (first.status !== 200) {
      response.writeHead(first.status, first.headers).end(first.body);
      return;
    }
    response.writeHead(200, { ...first.headers, 'content-type': 'application/x-ndjson' });
    response.flushHeaders();
    const cursor = new Cursor();
    // A supervisor whose processes are just replaced has no reply for a moment; a token that was revoked ends it.
    for (let reply: AdminReply = first; reply.status !== 401; ) {
      if (reply.status === 200) await write(response, cursor.next(JSON.parse(reply.body) as LogList));
      await delay(pollMs, undefined, { ref: false });
      if (response.destroyed || response.socket === null) return;
      reply = await this.#api({ ...request, query: `limit=1000&after=${cursor.text}` });
    }
    response.end();
  }
}

/** Of each process how far it was read. */
class Cursor {
  readonly #places = new Map<string, string>();

  get text(): string {
    return [...this.#places].map(([process, place]) => `${process}:${place}`).join(',');
  }

  next({ data, cursor }: LogList): LogList['data'] {
    for (const [process = '', place = ''] of cursor.split(',').map((part) => part.split(':'))) {
      this.#places.delete(process);
      this.#places.set(process, place);
    }
    for (const process of this.#places.keys())
      if (this.#places.size > mostProcesses) this.#places.delete(process);
    return data;
  }
}

const write = async (response: ServerResponse, entries: LogList['data']): Promise<void> => {
  if (entries.length === 0 || response.destroyed) return;
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  if (!response.write(lines)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
};
