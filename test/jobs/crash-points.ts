/** Points at which a worker may crash: before or after a call to the store. */

export interface CrashPoint {
  readonly name: string;
  readonly when: 'before' | 'after';
  /** Whether it is this call, as text. */
  readonly at: (call: string) => boolean;
}

const moving = (status: string) => (call: string) =>
  call.startsWith('update ["video-job"') && call.includes(`"status":"${status}"`);
const isSettled = (call: string) => call.includes('"settled":true');

export const crashPoints: readonly CrashPoint[] = [
  { name: 'slot taken, job pending', when: 'after', at: (call) => call.startsWith('create ["render-slot"') },
  { name: 'job begun', when: 'after', at: moving('in_progress') },
  { name: 'rendered, not ended', when: 'before', at: moving('completed') },
  { name: 'ended, not charged', when: 'after', at: (call) => moving('completed')(call) && !isSettled(call) },
  { name: 'charged, not notified', when: 'before', at: (call) => call.startsWith('create ["delivery"') },
];
