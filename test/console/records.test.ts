/** Tests what the console's forms send, and what its audit log says of a change. */
import t from 'tap';
import {
  type AuditEntry,
  changesOf as auditChanges,
  summaryOf,
} from '../../src/console/web/pages/audit/changes.ts';
import { changesOf, draftOf } from '../../src/console/web/pages/keys/key-draft.ts';
import type { AdminKey } from '../../src/console/web/pages/keys/records.ts';

const key: AdminKey = {
  ...{ object: 'key', id: 'key_1', name: 'laptop', subscription: 'sub_1', status: 'active', created: 1 },
  ...{ display: 'sk-…a1B2', last_used: null, former_secrets: [] },
  ...{ expires: 1_700_000_001, models: ['a/b', 'c/*'], metadata: { owner: 'data' } },
  limits: { concurrency: 2, requests_per_minute: 60 },
};

t.test('a form sends what was changed in it', async (t) => {
  const draft = draftOf(key);
  t.strictSame(changesOf(draft, draft), {}, 'also nothing of a key that has expired');
  const limits = { ...draft.limits, concurrency: '', tokens_per_minute: '500' };
  t.strictSame(
    changesOf(draft, {
      ...draft,
      expires: '',
      models: ' a/b,\n\nd/e ',
      routes: 'GET *',
      metadata: '',
      limits,
    }),
    {
      ...{ expires: null, models: ['a/b', 'd/e'], routes: ['GET *'], metadata: null },
      limits: { concurrency: null, tokens_per_minute: 500 },
    },
  );
  t.strictSame(changesOf(draft, { ...draft, models: '\n' }), { models: null });
  const { expires } = draft;
  t.strictSame(changesOf(draftOf(), { ...draftOf(), expires }), { expires: 1_700_000_001 }, 'a local time');
});

t.test('a form names the field that it cannot send', async (t) => {
  const draft = draftOf(key);
  t.throws(() => changesOf(draft, { ...draft, metadata: '{' }), { name: 'FieldError', param: 'metadata' });
  t.throws(() => changesOf(draft, { ...draft, expires: 'soon' }), { name: 'FieldError', param: 'expires' });
});

t.test('an entry of the audit log says which fields differ', async (t) => {
  const entry = (before: unknown, after: unknown): AuditEntry => ({
    ...{ id: 'audit_1', object: 'audit.entry', time: 1, who: 'cli', action: 'key.update', target: 'key_1' },
    ...{ subscription: null, before, after },
  });
  const change = entry(
    { status: 'active', tags: ['a'], limits: { concurrency: 2 }, next: null },
    { status: 'suspended', tags: ['a'], limits: { concurrency: 3 }, next: 5, name: 'x' },
  );
  t.strictSame(auditChanges(change), [
    { field: 'status', before: 'active', after: 'suspended' },
    { field: 'limits.concurrency', before: '2', after: '3' },
    { field: 'next', before: 'null', after: '5' },
    { field: 'name', before: undefined, after: 'x' },
  ]);
  t.equal(
    summaryOf(change),
    'status: active → suspended, limits.concurrency: 2 → 3, next: null → 5, name: – → x',
  );
  t.equal(summaryOf(entry(null, { id: 1 })), 'created');
  t.equal(summaryOf(entry({ id: 1 }, null)), 'removed');
});
