/** Reads from the journal of a dead process what others need to settle what it had reserved. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { nanodollars } from '../../helpers/decimal.ts';
import type { Charge, DeadProcess } from '../../ports/allowances.ts';
import { readBatch } from './reader.ts';
import { listSegments, segmentBytes } from './segments.ts';

/** Of a segment: well over a thousand events, read within milliseconds. Those before are found in the ledger. */
const tailBytes = 1024 * 1024;

export const deadProcess = (folder: string): DeadProcess => ({
  process: basename(folder),
  charges: listSegments(folder)
    .slice(-2)
    .flatMap((segment) => lastCharges(folder, segment)),
  cutOff: existsSync(markOf(folder)),
});

/** Whether they were shipped or not. */
const lastCharges = (folder: string, segment: number): Charge[] => {
  const bytes = segmentBytes(folder, segment);
  const from = { segment, offset: Math.max(0, bytes - tailBytes) };
  // The line that it begins within is no event.
  const events = readBatch(folder, from, { segment, offset: bytes }, tailBytes)?.events ?? [];
  return events.map((json) => {
    const { request_id, cost } = JSON.parse(json) as UsageEvent;
    return { id: request_id, cost: nanodollars(cost) };
  });
};

export const markCutOff = (folder: string, isCutOff: boolean): void => {
  if (isCutOff) writeFileSync(markOf(folder), '');
  else rmSync(markOf(folder), { force: true });
};

const markOf = (folder: string): string => join(folder, 'cut-off');
