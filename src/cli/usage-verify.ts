/** `sluice usage verify`: compares journals, Kafka and ledger; exit code 1 when they differ. */
import { existsSync } from 'node:fs';
import type { AuditKafka, Report } from '../billing/verify.ts';
import type { Config } from '../config.ts';
import { type Command, json } from './command.ts';
import { printJson, printTable, remark } from './output.ts';
import { withLedger } from './stores.ts';

export const usageVerify: Command = {
  name: 'usage verify',
  summary: 'compare journals, Kafka and ledger; exit code 1 when they differ',
  details:
    'Compares what the journals in the data folder have shipped, what Kafka holds and its reader has taken, and what the\nledger counts. What is still on its way is shown and is no difference.',
  options: { json },
  run: (input) =>
    withLedger(async (ledger, config) => {
      // Loaded only here: no other command needs them.
      const [{ journalFolder }, { differs, verifyUsage }] = await Promise.all([
        import('../accounts.ts'),
        import('../billing/verify.ts'),
      ]);
      const report = await verifyUsage({
        journals: existsSync(journalFolder(config)) ? journalFolder(config) : undefined,
        ledger,
        kafka: audit(config),
        ...(config.usageDays ? { since: Date.now() - config.usageDays * 86_400_000 } : {}),
      });
      if (input.given('json')) printJson(report);
      else show(report);
      if (differs(report)) throw new Error('they differ');
    }),
};

const audit = ({ kafka }: Config): AuditKafka | undefined =>
  kafka === undefined
    ? undefined
    : async (look) => {
        const [{ auditKafka }, { pino }] = await Promise.all([
          import('../adapters/events/kafka-audit.ts'),
          import('pino'),
        ]);
        const options = { topic: 'usage', group: 'billing', log: pino({ level: 'silent' }) } as const;
        return auditKafka(kafka, options, look);
      };

const show = ({ journal, kafka, ledger }: Report): void => {
  const rows: (readonly [place: string, what: string, count: number])[] = [
    ['journal', 'waiting to be shipped', journal.waiting],
    ['journal', 'shipped, still on disk', journal.shipped],
    ['journal', 'lines that do not read', journal.damaged],
    ['journal', 'set aside as damaged', journal.set_aside.length],
    ['journal', 'torn by crashes, never acknowledged', journal.torn],
  ];
  if (kafka !== undefined)
    rows.push(
      ['Kafka', 'messages', kafka.messages],
      ['Kafka', 'of them copies', kafka.repeated],
      ['Kafka', 'waiting to be read', kafka.waiting],
      ['Kafka', 'set aside as unusable', kafka.deadLetters],
      ['Kafka', 'missing', kafka.missing.length],
    );
  rows.push(
    ['ledger', 'found', ledger.found],
    ['ledger', 'missing', ledger.missing.length],
    ['ledger', 'counted twice', ledger.duplicated.length],
    ['ledger', 'with another amount', ledger.altered.length],
  );
  printTable(
    ['WHERE', 'WHAT', 'EVENTS'],
    rows.map(([place, what, count]) => [place, what, String(count)]),
  );
  const named = {
    damaged: journal.set_aside,
    'missing in Kafka': kafka?.missing ?? [],
    missing: ledger.missing,
    twice: ledger.duplicated,
    altered: ledger.altered,
  };
  for (const [what, ids] of Object.entries(named))
    for (const id of ids.slice(0, 20)) remark(`${what}: ${id}`);
  if (journal.set_aside.length > 0)
    remark('damaged.log in the journal folder has them: see "Damaged lines" in docs/billing.md');
};
