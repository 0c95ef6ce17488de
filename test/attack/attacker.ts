/** Runs the attack of a row in a process of its own, so that its work does not delay the victim. */
import { type ChildProcess, fork } from 'node:child_process';
import type { AttackReport, Target } from './row.ts';

export interface AttackOrder extends Omit<Target, 'signal'> {
  readonly row: string;
}

export interface Attacker {
  /** Resolves with what it got, once its time is up. */
  readonly report: Promise<AttackReport>;
  stop(): void;
}

/** Beyond the time of the attack: to close what it opened. */
const graceMs = 20_000;

/** Resolves when the attack begins. */
export const startAttacker = async (order: AttackOrder): Promise<Attacker> => {
  const isSource = import.meta.url.endsWith('.ts');
  const entry = new URL(`./attacker-process.${isSource ? 'ts' : 'js'}`, import.meta.url);
  const child = fork(entry, {
    execArgv: isSource ? ['--import', 'tsx'] : [],
    stdio: ['ignore', 2, 2, 'ipc'],
    // In a session of its own, which has a priority.
    detached: true,
  });
  const stop = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', stop);
  child.once('exit', () => process.off('exit', stop));
  const begun = nextMessage<'begun'>(child);
  child.send(order);
  await begun;
  const clock = setTimeout(stop, order.milliseconds + graceMs);
  const report = nextMessage<AttackReport>(child).finally(() => {
    clearTimeout(clock);
    stop();
  });
  // Awaited only after the victim was measured.
  report.catch(() => undefined);
  return { report, stop };
};

const nextMessage = <Message>(child: ChildProcess): Promise<Message> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null): void =>
      reject(new Error(`the attacker ended with ${code ?? signal}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as Message);
    });
  });
