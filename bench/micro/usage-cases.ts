/** Micro-benchmarks of usage: admission, the event, its journal line, its ledger row. */

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { SettledParts } from '../../pipelines/conversation/settle.ts';
import { tokenAccount } from '../../pipelines/conversation/token-account.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { createLocalAdmission } from '../../src/adapters/admission/local.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { tokenCost } from '../../src/billing/cost.ts';
import { eventJson } from '../../src/billing/event-json.ts';
import { LineEncoder } from '../../src/billing/journal/line.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import { createTokenCounts } from '../../src/tokens/token-counts.ts';
import type { MicroCase } from './run.ts';
import { call, caller, exchangeOf, model, requestBody, wholeParts } from './samples.ts';

const admission = createLocalAdmission();
const asked = {
  subscription: caller.subscription,
  model: model.id,
  limits: { concurrency: 100_000, requests_per_minute: 100_000_000 },
};
const lease = { waited: 0, release: () => undefined };
const task = { model, call, promptTokens: undefined, hidesReasoning: false, framing: undefined };
const exchange = exchangeOf(requestBody(false));
const usage = { prompt: 120, completion: 64, cached: 0, reasoning: 0 };

const tokenCounts = createTokenCounts({ countTokens: () => Promise.resolve(0) });
const openAccount = tokenAccount({ tokenCounts }, '/chat/completions');
const newEvent = (): UsageEvent => {
  const account = openAccount({ exchange, caller, task, lease });
  account.add(wholeParts as SettledParts);
  return account.event('completed', 200);
};
const event = newEvent();
const json = JSON.stringify(event);
const lines = new LineEncoder();

const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-bench-micro-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const ledger = openLibsqlLedger(path.join(folder, 'ledger.db'));
let count = 0;
const hundredEvents = (): UsageEvent[] =>
  Array.from({ length: 100 }, () => {
    count += 1;
    const request_id = `req_${'0'.repeat(24)}${count.toString(36)}`;
    return { ...event, id: `usage_${request_id}`, request_id };
  });

export const usageCases: readonly MicroCase[] = [
  {
    name: 'admission: admit and release',
    run: () => emitted(admission.admit(asked)).subscribe((next) => next.release()),
  },
  { name: 'usage: exact cost', run: () => tokenCost(usage, model.pricing) },
  { name: 'usage: event of a request', run: newEvent },
  // Includes flattening the string, which happens only when it is written.
  {
    name: 'usage: event as JSON, and its journal line',
    run: () => lines.encode([event], eventJson),
  },
  { name: 'journal: line with its checksum', run: () => lines.encode([json], (text) => text) },
  { name: 'ledger: 100 events inserted', run: () => ledger.insert(hundredEvents()) },
];
