/** Tests `sluice budgets`, and limits of `sluice keys` and `sluice limits`, as a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { onlyLong } from '../long.ts';

const main = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));
const data = t.testdir({});

const sluice = async (...words: string[]) => {
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env.PATH, SLUICE_DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, out, err };
};

const json = async (...words: string[]) => JSON.parse((await sluice(...words, '--json')).out);

t.test('budgets', { skip: onlyLong }, async (t) => {
  t.match(await sluice('subscriptions', 'create', 'acme'), { code: 0 });
  t.match(await sluice('budgets', 'create', '--subscription', 'acme'), { code: 2, err: /say how much/ });
  t.match(await sluice('budgets', 'create', '--subscription', 'acme', '--amount', 'ten', '--period', 'day'), {
    code: 1,
    err: /amount /,
  });
  const made = await sluice(
    'budgets',
    'create',
    '--subscription',
    'acme',
    '--amount',
    '10',
    '--period',
    'month',
  );
  t.match(made, { code: 0, out: /^bud_[0-9a-f]{24}: 10 USD a month \(UTC\) for sub_[0-9a-f]{24}\.\n$/ });
  const id = made.out.slice(0, made.out.indexOf(':'));
  const tag = await json('budgets', 'create', '--tag', 'night', '--amount', '1.5', '--period', 'total');
  t.match(tag, { tag: 'night', amount: '1.5', period: 'total', time_zone: 'UTC' });
  t.match(await sluice('budgets', 'update', id, '--amount', '20', '--time-zone', 'Europe/Berlin'), {
    code: 0,
    out: /: 20 USD a month \(Europe\/Berlin\) for sub_/,
  });
  t.match(await sluice('budgets', 'remove', tag.id), { code: 0, out: `${tag.id} is removed.\n` });
  const listed = await sluice('budgets', 'list');
  t.match(listed, { code: 0, err: '' });
  t.match(listed.out, /^BUDGET +FOR +USD +PERIOD +TIME ZONE +SPENT +LEFT +RESETS \(UTC\)\n/);
  t.match(
    listed.out,
    new RegExp(`\n${id} +sub_\\w+ +20 +month +Europe/Berlin +0 +20 +\\d{4}-\\d\\d-\\d\\d [0-9:]{5}\n$`),
  );
});

t.test('limits of keys and on tokens', { skip: onlyLong }, async (t) => {
  const key = await json('keys', 'create', '--subscription', 'acme', '--rpm', '60', '--tpm', '100000');
  t.strictSame(key.limits, { requests_per_minute: 60, tokens_per_minute: 100_000 });
  const changed = await json('keys', 'update', key.id, '--rpm', '', '--concurrency', '2');
  t.strictSame(changed.limits, { tokens_per_minute: 100_000, concurrency: 2 });
  t.match(await sluice('keys', 'list'), { out: /LIMITS.*\n.*concurrency 2, tpm 100000/s });
  t.match(await sluice('keys', 'update', key.id, '--tpm', '0'), {
    code: 2,
    err: /--tpm takes a whole number/,
  });
  const set = await sluice('limits', 'set', '--subscription', 'acme', '--completion-tpm', '5000');
  t.match(set, {
    code: 0,
    out: /^SUBSCRIPTION +MODEL +CONCURRENCY +RPM +COMPLETION-TPM\nsub_\w+ +\(all\) +– +– +5000\n$/,
  });
});
