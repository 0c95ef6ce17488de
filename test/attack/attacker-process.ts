/** The process of the attacker: gets the name of a row and its target, sends what the attack reports. */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import type { AttackOrder } from './attacker.ts';
import { rows } from './rows.ts';

/** Elsewhere an attacker has processors of its own: here it must not take the gateway's. */
setPriority(10);

process.once('disconnect', () => process.exit());
const [{ row: name, ...target }] = (await once(process, 'message')) as [AttackOrder];
const row = rows.find((candidate) => candidate.name === name);
if (row === undefined) throw new Error(`There is no attack "${name}"`);
process.send?.('begun');
process.send?.(await row.attack({ ...target, signal: AbortSignal.timeout(target.milliseconds) }));
