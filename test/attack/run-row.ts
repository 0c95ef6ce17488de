/** Measures the victim of a row idle and under attack, on a gateway of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { answers, buildIfStale } from '../chaos/stack.ts';
import { startAttacker } from './attacker.ts';
import { startNameserver } from './doubles/nameserver.ts';
import { startQuickEngine } from './doubles/quick-engine.ts';
import { startAttackedGateway, unsupported } from './gateway.ts';
import { watchMemory } from './memory.ts';
import type { AttackReport, Row } from './row.ts';
import { complaintsOf } from './verdict.ts';
import { type Measured, measure } from './victims.ts';

export interface RowResult {
  readonly row: string;
  readonly title: string;
  readonly victim: string;
  readonly idle: Measured;
  readonly attacked: Measured;
  /** MiB: the most that the gateway's processes had resident together, and what they may have. */
  readonly peakRss: number;
  readonly maxRss: number;
  readonly attacker: AttackReport;
  /** How the gateway ended, if it did. */
  readonly ending: string | undefined;
  /** Why the row does not pass; none: it passes. */
  readonly complaints: readonly string[];
}

export interface RunOptions {
  /** Of attack, in place of the row's own. */
  readonly seconds?: number | undefined;
}

const idleMs = 5_000;
const warmUpMs = 2_000;
const usualSeconds = 12;
/** Until the attack has its effect. */
const onsetMs = 1_000;
const recoveryMs = 10_000;

/** A text says why the row cannot run on this machine. */
export const runRow = async (row: Row, options: RunOptions = {}): Promise<RowResult | string> => {
  const settings = row.gateway ?? {};
  const reason = unsupported(settings);
  if (reason !== undefined) return reason;
  buildIfStale();
  const nameserver =
    settings.nameserver === undefined ? undefined : await startNameserver(settings.nameserver);
  const gateway = await startAttackedGateway(settings, row.attackerRpm ?? 1);
  const engine = await startQuickEngine(gateway.doubles.victim);
  const memory = watchMemory(gateway.pid);
  try {
    const { url, port, keys, doubles } = gateway;
    const victim = { url, key: keys.victim, kind: row.victim };
    await measure(victim, warmUpMs);
    const idle = await measure(victim, idleMs);
    const milliseconds = (options.seconds ?? row.seconds ?? usualSeconds) * 1000;
    const attacker = await startAttacker({
      ...{ row: row.name, url, host: '127.0.0.1', port, key: keys.attacker },
      ...{ enginePort: doubles.attacker, milliseconds },
    });
    await delay(onsetMs);
    const attacked = await measure(victim, milliseconds - onsetMs);
    const report = await attacker.report;
    const { peak } = memory;
    const isAlive = gateway.ending() === undefined && (await isResponsive(url));
    const result = {
      ...{ row: row.name, title: row.title, victim: row.victim, idle, attacked, attacker: report },
      ...{ peakRss: Math.round(peak), maxRss: row.maxRss },
      ending: gateway.ending() ?? (isAlive ? undefined : 'no response'),
    };
    return { ...result, complaints: complaintsOf(result, row.check?.(report)) };
  } finally {
    memory.stop();
    await engine.close();
    await gateway.stop();
    await nameserver?.close();
  }
};

const isResponsive = async (url: string): Promise<boolean> => {
  const end = Date.now() + recoveryMs;
  while (Date.now() < end) {
    if (await Promise.race([answers(url), delay(1000, false)])) return true;
    await delay(100);
  }
  return false;
};
