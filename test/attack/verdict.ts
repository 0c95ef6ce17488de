/** Decides whether a victim was harmed: its latency, its failures, the gateway's memory and life. */
import type { AttackReport } from './row.ts';
import type { Measured } from './victims.ts';

/** What was measured of a row. */
export interface Measurement {
  readonly idle: Measured;
  readonly attacked: Measured;
  /** MiB: the most that the gateway's processes had resident together, and what they may have. */
  readonly peakRss: number;
  readonly maxRss: number;
  readonly attacker: AttackReport;
  /** How the gateway ended, if it did. */
  readonly ending: string | undefined;
}

export interface Complaint {
  readonly about: 'latency' | 'failures' | 'memory' | 'process' | 'attack';
  readonly text: string;
}

/** The 99th percentile under attack may be this many times that of an idle gateway … */
const factor = 2;
/** … or this many milliseconds, whichever is more: attacker, victim and gateway share the processors here. */
export const floorMs = 50;

export const boundOf = ({ p99 }: Measured): number => Math.max(floorMs, factor * p99);

export const failed = ({ failures }: Measured): number =>
  Object.values(failures).reduce((sum, count) => sum + count, 0);

export const complaintsOf = (measurement: Measurement): readonly Complaint[] => {
  const { idle, attacked, peakRss, maxRss, attacker, ending } = measurement;
  const complaints: Complaint[] = [];
  const complain = (about: Complaint['about'], text: string): unknown => complaints.push({ about, text });
  if (failed(idle) > 0 || idle.sent === 0)
    complain('attack', `the idle gateway failed ${failed(idle)} of ${idle.sent} requests: no baseline`);
  if (Object.values(attacker).every((count) => count === 0)) complain('attack', 'the attacker sent nothing');
  if (attacked.p99 > boundOf(idle))
    complain('latency', `p99 ${Math.round(attacked.p99)} ms is over ${Math.round(boundOf(idle))} ms`);
  if (failed(attacked) > 0 || attacked.sent === 0)
    complain('failures', `${failed(attacked)} of the victim's ${attacked.sent} requests failed`);
  if (peakRss > maxRss) complain('memory', `${peakRss} MiB resident are over ${maxRss} MiB`);
  if (ending !== undefined) complain('process', `the gateway ended: ${ending}`);
  return complaints;
};
