/** Decides whether a victim was harmed: its latency, its failures, the gateway's memory and life. */
import type { RowResult } from './run-row.ts';
import type { Measured } from './victims.ts';

/** The 99th percentile under attack may be this many times that of an idle gateway … */
const factor = 2;
/** … or this many milliseconds, whichever is more: attacker, victim and gateway share the processors here. */
export const floorMs = 50;

export const boundOf = ({ p99 }: Measured): number => Math.max(floorMs, factor * p99);

export const failed = ({ failures }: Measured): number =>
  Object.values(failures).reduce((sum, count) => sum + count, 0);

export const complaintsOf = (
  { idle, attacked, peakRss, maxRss, attacker, ending }: Omit<RowResult, 'complaints'>,
  own: string | undefined,
): readonly string[] => {
  const complaints: string[] = [];
  if (failed(idle) > 0 || idle.sent === 0)
    complaints.push(`the idle gateway failed ${failed(idle)} of ${idle.sent} requests: no baseline`);
  if (Object.values(attacker).every((count) => count === 0)) complaints.push('the attacker sent nothing');
  if (attacked.p99 > boundOf(idle))
    complaints.push(`p99 ${Math.round(attacked.p99)} ms is over ${Math.round(boundOf(idle))} ms`);
  if (failed(attacked) > 0 || attacked.sent === 0)
    complaints.push(`${failed(attacked)} of the victim's ${attacked.sent} requests failed`);
  if (peakRss > maxRss) complaints.push(`${peakRss} MiB resident are over ${maxRss} MiB`);
  if (ending !== undefined) complaints.push(`the gateway ended: ${ending}`);
  if (own !== undefined) complaints.push(own);
  return complaints;
};
