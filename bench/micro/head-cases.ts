/** Micro-benchmarks of response heads: the same for every response, and with what is known of this one. */
import { createLocalAdmission } from '../../src/adapters/admission/local.ts';
import { servedLines } from '../../src/http/served-lines.ts';
import { HeadLines } from '../../src/http/servers/head-lines.ts';
import type { Lease } from '../../src/ports/admission.ts';
import { Served } from '../../src/ports/served.ts';
import type { MicroCase } from './run.ts';

const headers = { 'content-type': 'application/json' };
const lines = new HeadLines();
const caller = { subscription: 'sub_bench', key: 'key_bench' };
const admission = createLocalAdmission();
const limits = { concurrency: 1_000_000, requests_per_minute: 1000 };
const lease = admission.admit({ ...caller, model: 'bench/chat', limits }) as Lease;

let count = 0;
const nextId = (): string => {
  count = (count + 1) % 1_000_000;
  return `req_0123456789abcdef${100_000_000 + count}`;
};

/** All that a request costs more: its times, its record and its lines. */
const serve = (which: 'all' | 'limits'): string => {
  const received = performance.now();
  const served = new Served(caller, 'bench/chat', lease, { account: undefined });
  served.attempts++;
  served.replica = 'vllm/0';
  served.engineMs = performance.now() - received + 12.3;
  served.busyMs += served.engineMs;
  const now = performance.now();
  served.overheadMs = Math.max(0, now - received);
  return servedLines({ served, refusedBy: undefined, dialect: 'envelope', which, now });
};

export const headCases: readonly MicroCase[] = [
  { name: 'head: lines', run: () => lines.of(headers, nextId()) },
  { name: 'head: lines, with rate limits', run: () => lines.of(headers, nextId(), serve('limits')) },
  {
    name: 'head: lines, with rate limits and how it was served',
    run: () => lines.of(headers, nextId(), serve('all')),
  },
];
