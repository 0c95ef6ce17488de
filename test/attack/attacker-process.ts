/** The process of the attacker: gets the name of a row and its target, sends what the attack reports. */
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { AttackOrder } from './attacker.ts';
import { rows } from './rows.ts';

/**
 * Elsewhere an attacker has processors of its own: here it must take none from the gateway, or from its conversions. On
 * Linux each thread has a priority, and so has the session, where the kernel shares processors between sessions.
 */
const lowest = 19;
setPriority(lowest);
if (existsSync('/proc/self/task'))
  for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), lowest);
if (existsSync('/proc/self/autogroup')) writeFileSync('/proc/self/autogroup', String(lowest));

process.once('disconnect', () => process.exit());
const [{ row: name, ...target }] = (await once(process, 'message')) as [AttackOrder];
const row = rows.find((candidate) => candidate.name === name);
if (row === undefined) throw new Error(`There is no attack "${name}"`);
process.send?.('begun');
process.send?.(await row.attack({ ...target, signal: AbortSignal.timeout(target.milliseconds) }));
