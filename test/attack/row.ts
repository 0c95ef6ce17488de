/** What a row of the attack table is: an attack, the victim that it should not harm, and the bounds. */
import type { GatewaySettings } from './gateway.ts';
import type { VictimKind } from './victims.ts';

/** What an attack reaches: everything is on loopback. */
export interface Target {
  /** Base address of the gateway, ending in `/v1`. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Of the attacker's own subscription. */
  readonly key: string;
  /** Where a double of the attack's engine is expected to listen. */
  readonly enginePort: number;
  /** Milliseconds that the attack lasts. */
  readonly milliseconds: number;
  /** Aborted when the time is up. */
  readonly signal: AbortSignal;
}

/** What the attacker got: requests by outcome (`200`, `429`, `cut`, `held`), and numbers of its own. */
export type AttackReport = Readonly<Record<string, number>>;

export interface Row {
  /** How it is named on the command line. */
  readonly name: string;
  readonly title: string;
  readonly victim: VictimKind;
  /** MiB that the gateway's processes may have resident together. */
  readonly maxRss: number;
  /** Requests a minute that the attacker may start, for each model; 1 unless given. */
  readonly attackerRpm?: number;
  /** Seconds of attack, when the usual ones do not show its effect. */
  readonly seconds?: number;
  readonly gateway?: GatewaySettings;
  /** Runs in a process of its own until the signal, with loops bounded by it. */
  attack(target: Target): Promise<AttackReport>;
  /** A promise of its own beside those of every row: why it was not kept. */
  check?(report: AttackReport): string | undefined;
}
