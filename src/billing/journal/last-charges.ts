/** Reads what the last requests in a journal cost, whether they were shipped or not. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { nanodollars } from '../../decimal.ts';
import type { Charge } from '../../ports/allowances.ts';
import { readBatch } from './reader.ts';
import { listSegments, segmentBytes } from './segments.ts';

/** Of a segment: well over a thousand events, read within milliseconds. Those before are found in the ledger. */
const tailBytes = 1024 * 1024;

export const lastCharges = (folder: string): Charge[] =>
  listSegments(folder)
    .slice(-2)
    .flatMap((segment) => {
      const bytes = segmentBytes(folder, segment);
      const from = { segment, offset: Math.max(0, bytes - tailBytes) };
      // The line that it begins within is no event.
      const events = readBatch(folder, from, { segment, offset: bytes }, tailBytes)?.events ?? [];
      return events.map((json) => {
        const { request_id, cost } = JSON.parse(json) as UsageEvent;
        return { id: request_id, cost: nanodollars(cost) };
      });
    });
