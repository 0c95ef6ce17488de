/** The contract suite of the HTTP edge, run on every server. */
import type { Test } from 'tap';
import { bodies } from './edge/bodies.ts';
import { bodyMemory } from './edge/body-memory.ts';
import { endings } from './edge/endings.ts';
import { flow } from './edge/flow.ts';
import { framing } from './edge/framing.ts';
import { prefix } from './edge/prefix.ts';
import { responses } from './edge/responses.ts';
import { routing } from './edge/routing.ts';

export const edgeContract = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  await t.test('responses', (t) => responses(t, name));
  await t.test('routing', (t) => routing(t, name));
  await t.test('bodies', (t) => bodies(t, name));
  await t.test('framing', (t) => framing(t, name));
  await t.test('the first bytes of a body', (t) => prefix(t, name));
  await t.test('memory of bodies', (t) => bodyMemory(t, name));
  await t.test('flow', (t) => flow(t, name));
  await t.test('endings', (t) => endings(t, name));
};
