/** The Ledger port on SQLite and on ClickHouse. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { openClickHouseLedger } from '../../src/adapters/ledger/clickhouse.ts';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { ledgerContract } from '../contracts/ledger.ts';
import { clickHouseMissing, startClickHouse } from '../services/clickhouse.ts';

t.test('SQLite: contract', async (t) => {
  const file = join(t.testdir(), 'ledger.db');
  await ledgerContract(t, () => openLibsqlLedger(file));
});

t.test('ClickHouse', { skip: clickHouseMissing() ?? false }, async (t) => {
  const service = await startClickHouse();
  t.teardown(() => service.stop());
  const url = `${service.url}/sluice_test_${randomBytes(4).toString('hex')}`;
  await t.test('contract', (t) => ledgerContract(t, () => openClickHouseLedger(url)));
});
