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

export interface EdgeContractOptions {
  /** Why what takes long is left out; false: it runs. */
  readonly slow?: string | false;
}

export const edgeContract = async (
  t: Test,
  name: 'uws' | 'node',
  { slow = false }: EdgeContractOptions = {},
): Promise<void> => {
  await t.test('responses', (t) => responses(t, name));
  await t.test('routing', (t) => routing(t, name));
  await t.test('bodies', { skip: slow }, (t) => bodies(t, name));
  await t.test('framing', (t) => framing(t, name));
  await t.test('the first bytes of a body', { skip: slow }, (t) => prefix(t, name));
  await t.test('memory of bodies', { skip: slow }, (t) => bodyMemory(t, name));
  await t.test('flow', { skip: slow }, (t) => flow(t, name));
  await t.test('endings', (t) => endings(t, name));
};
