/** Checks what every conversation format refuses, and what samples of invalid requests have in common. */
import type { Test } from 'tap';
import { type Harness, harness } from './fixtures.ts';

/** A request body, and `status message` of its refusal. */
export type Refused = readonly (readonly [body: unknown, refusal: string])[];

/** Of a format: what a body is refused with, or `answered`. */
type Refusal = (body: unknown, at?: Harness) => Promise<string>;

/** An object schema as strict mode wants it. */
export const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };
export const efforts = '"none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"';
export const png = 'data:image/png;base64,AAAA';

const shown = (body: unknown): string => JSON.stringify(body).slice(0, 120);

/** By looking at the request alone. */
export const checkRefused = async (t: Test, refusal: Refusal, cases: Refused): Promise<void> => {
  const at = harness();
  for (const [body, expected] of cases) t.equal(await refusal(body, at), expected, shown(body));
  t.equal(at.calls.length, 0, 'no engine was called');
  t.equal(at.leases.length, 0, 'no slot was taken');
  t.same(at.events, [], 'nothing was billed');
};

/** What cannot be told before media is loaded and tokens are counted. */
export const checkRefusedInSlot = async (t: Test, refusal: Refusal, costly: Refused): Promise<void> => {
  for (const [body, expected] of costly) {
    const at = harness();
    const what = shown(body);
    t.equal(await refusal(body, at), expected, what);
    t.match(at.leases, [{ released: 1 }], `${what}: the slot is released once`);
    t.strictSame([at.calls, at.events], [[], []], `${what}: no engine was called, nothing was billed`);
  }
};

export const checkAccepted = async (t: Test, refusal: Refusal, fine: readonly unknown[]): Promise<void> => {
  for (const body of fine) t.equal(await refusal(body), 'answered', shown(body));
};
