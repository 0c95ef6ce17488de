/** Micro-benchmarks of in-process allowances: reserved and settled, with one claim and with four, and refused. */
import { LocalAllowances } from '../../src/adapters/allowances/local.ts';
import type { Allowance, Claim, Reservation } from '../../src/ports/allowances.ts';
import type { MicroCase } from './run.ts';

/** One decision per millisecond: a window holds sixty thousand. */
let time = 0;
const clock = { now: () => time, after: () => () => undefined };
const allowances = new LocalAllowances({ clock, spent: 0, wallClock: () => 0 });

const most = Number.MAX_SAFE_INTEGER;
const window = (name: string, limit = most): Allowance => ({
  name,
  limit,
  span: { kind: 'window', ms: 60_000 },
});
const budget: Allowance = {
  name: 'bud_0123456789abcdef 2026-11',
  limit: most,
  span: { kind: 'period', start: 0, end: 1e13 },
};
const one: readonly Claim[] = [
  { allowance: window('sub_0123456789abcdef acme/writer tokens'), amount: 1500 },
];
const four: readonly Claim[] = [
  { allowance: { name: 'key_0123456789abcdef concurrency', limit: 64, span: { kind: 'held' } }, amount: 1 },
  ...one,
  { allowance: window('key_0123456789abcdef tokens'), amount: 1500 },
  { allowance: budget, amount: 30_000 },
];
const full: readonly Claim[] = [{ allowance: window('sub_full tokens', 10), amount: 11 }];

const reserveAndSettle = (claims: readonly Claim[], used: readonly number[]): void => {
  time += 1;
  (allowances.reserve('req_0123456789abcdef', claims) as Reservation).settle(used);
};

export const allowanceCases: readonly MicroCase[] = [
  { name: 'allowances in process: reserve and settle, one claim', run: () => reserveAndSettle(one, [200]) },
  {
    name: 'allowances in process: reserve and settle, four claims',
    run: () => reserveAndSettle(four, [1, 200, 200, 4000]),
  },
  {
    name: 'allowances in process: refuse',
    run: () => {
      try {
        return allowances.reserve('req_0123456789abcdef', full);
      } catch (error) {
        return error;
      }
    },
  },
];
