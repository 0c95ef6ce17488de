/** Reads what the last requests in a journal cost, whether they were shipped or not. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { nanodollars } from '../../decimal.ts';
import type { Charge } from '../../ports/allowances.ts';
import { readBatch } from './reader.ts';
import { type Cursor, listSegments, segmentBytes } from './segments.ts';

/** Of the last two segments: those before were written long before the process died, and are found in the ledger. */
export const lastCharges = (folder: string): Charge[] => {
  const segments = listSegments(folder).slice(-2);
  const [first] = segments;
  const last = segments.at(-1);
  if (first === undefined || last === undefined) return [];
  const end: Cursor = { segment: last, offset: segmentBytes(folder, last) };
  const charges: Charge[] = [];
  for (let cursor: Cursor = { segment: first, offset: 0 }; ; ) {
    const batch = readBatch(folder, cursor, end);
    if (batch === undefined) return charges;
    for (const json of batch.events) {
      const { request_id, cost } = JSON.parse(json) as UsageEvent;
      charges.push({ id: request_id, cost: nanodollars(cost) });
    }
    cursor = batch.next;
  }
};
