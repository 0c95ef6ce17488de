/** A pipeline that a test controls: it records requests and teardown, and replies on command. */
import { Observable, type Subscriber } from 'rxjs';
import type { Method, Route } from '../../../pipelines/route.ts';
import type {
  Bytes,
  Exchange,
  Head,
  KeyedPipeline,
  Pipeline,
  Reply,
  WholeReply,
} from '../../../src/ports/exchange.ts';
import { eventually } from '../../eventually.ts';

export const bytes = (content: string | Uint8Array): Bytes => ({ kind: 'bytes', bytes: content });

export const text = (body: string | Uint8Array, status = 200): WholeReply => ({
  kind: 'whole',
  status,
  headers: { 'content-type': 'text/plain' },
  body,
});

export const eventStream: Head = {
  kind: 'head',
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  keepAlive: ': keep-alive\n\n',
};

export const byteStream: Head = { kind: 'head', status: 200, headers: { 'content-type': 'audio/pcm' } };

export const open = (
  method: Method,
  path: string,
  pipeline: Pipeline,
  bodyLimit = 16 * 1024 * 1024,
): Route => ({ method, path, bodyLimit, access: 'public', pipeline });

export const keyed = (method: Method, path: string, pipeline: KeyedPipeline, bodyLimit = 1024): Route => ({
  method,
  path,
  bodyLimit,
  access: 'key',
  pipeline,
});

/** Replies only what the test says. */
export class Probe {
  exchange: Exchange | undefined;
  subscriber: Subscriber<Reply> | undefined;
  started = 0;
  left = 0;

  readonly pipeline: Pipeline = (exchange) => {
    this.exchange = exchange;
    return new Observable((subscriber) => {
      this.started++;
      this.subscriber = subscriber;
      return () => {
        this.left++;
      };
    });
  };

  async running(count = 1): Promise<void> {
    await eventually(() => this.started === count, `the pipeline to start ${count} times`);
  }

  async stopped(count = 1): Promise<void> {
    await eventually(() => this.left === count, `the pipeline to be left ${count} times`);
  }

  reply(...replies: Reply[]): void {
    for (const reply of replies) this.subscriber?.next(reply);
  }

  complete(): void {
    this.subscriber?.complete();
  }
}
