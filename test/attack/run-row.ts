/** Measures the victim of a row idle and under attack, on a gateway of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { answers, buildIfStale } from '../chaos/stack.ts';
import { startAttacker } from './attacker.ts';
import { startNameserver } from './doubles/nameserver.ts';
import { startQuickEngine } from './doubles/quick-engine.ts';
import { type AttackedGateway, startAttackedGateway, unsupported } from './gateway.ts';
import { watchMemory } from './memory.ts';
import type { Row } from './row.ts';
import { type Complaint, complaintsOf, type Measurement } from './verdict.ts';
import { measure } from './victims.ts';

export interface RowResult extends Measurement {
  readonly row: string;
  readonly title: string;
  readonly victim: string;
  /** Why the row does not pass; none: it passes. */
  readonly complaints: readonly Complaint[];
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

const attackSeconds = (row: Row, options: RunOptions): number =>
  options.seconds ?? row.seconds ?? usualSeconds;

/** Planned length of a row, with about four seconds until its gateway has started. */
export const secondsOf = (row: Row, options: RunOptions): number =>
  (warmUpMs + idleMs) / 1000 + attackSeconds(row, options) + 4;

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
  try {
    const milliseconds = attackSeconds(row, options) * 1000;
    const measurement = await measured(row, gateway, milliseconds);
    const own = row.check?.(measurement.attacker);
    const complaints: Complaint[] = [...complaintsOf(measurement)];
    if (own !== undefined) complaints.push({ about: 'failures', text: own });
    if (nameserver?.queries === 0)
      complaints.push({ about: 'attack', text: 'no query reached the nameserver' });
    return { row: row.name, title: row.title, victim: row.victim, ...measurement, complaints };
  } finally {
    await engine.close();
    await gateway.stop();
    await nameserver?.close();
  }
};

const measured = async (row: Row, gateway: AttackedGateway, milliseconds: number): Promise<Measurement> => {
  const { url, port, keys, doubles, pid } = gateway;
  const victim = { url, key: keys.victim, kind: row.victim };
  const memory = watchMemory(pid);
  try {
    await measure(victim, warmUpMs);
    const idle = await measure(victim, idleMs);
    const { report } = await startAttacker({
      ...{ row: row.name, url, host: '127.0.0.1', port, key: keys.attacker },
      ...{ enginePort: doubles.attacker, milliseconds },
    });
    await delay(onsetMs);
    const attacked = await measure(victim, milliseconds - onsetMs);
    const attacker = await report;
    const peakRss = Math.round(memory.peak);
    const ending = gateway.ending() ?? ((await isResponsive(url)) ? undefined : 'no response');
    return { idle, attacked, peakRss, maxRss: row.maxRss, attacker, ending };
  } finally {
    memory.stop();
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
