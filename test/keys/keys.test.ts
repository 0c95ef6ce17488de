/** Tests API keys: lookup, caching, and management of keys and subscriptions. */
import { join } from 'node:path';
import { Observable } from 'rxjs';
import t from 'tap';
import { openLibsqlState } from '../../src/adapters/state/libsql.ts';
import { ensureBootstrapKey } from '../../src/keys/bootstrap.ts';
import { createKeys } from '../../src/keys/keys.ts';
import { hashSecret, newSecret } from '../../src/keys/secret.ts';
import type { Caller } from '../../src/ports/exchange.ts';
import type { Keys } from '../../src/ports/keys.ts';
import type { State } from '../../src/ports/state.ts';
import { createModelState } from '../contracts/state-model.ts';
import { callerOf } from './caller-of.ts';

const invalidKey = { name: 'ApiError', kind: 'authentication', message: 'Invalid API key' };
const unavailable = {
  name: 'ApiError',
  kind: 'unavailable',
  message: 'API keys cannot be checked at the moment',
};

/** What is given at once; undefined when it keeps the caller waiting. */
const atOnce = (keys: Keys, secret: string): Caller | 'refused' | undefined => {
  const given = keys.authenticate(secret);
  if (!(given instanceof Observable)) return given;
  let answer: Caller | 'refused' | undefined;
  given.subscribe({
    next: (caller) => {
      answer = caller;
    },
    error: () => {
      answer = 'refused';
    },
  });
  return answer;
};
/** Lets readings that were started behind a request finish. */
const settled = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
};

/** An in-memory store with a settable clock, a count of reads, and a switch that fails or delays them. */
const setUp = async (settings: Parameters<typeof createKeys>[1] = {}) => {
  const model = createModelState();
  const store = { time: 0, readings: 0, down: false, hold: undefined as Promise<void> | undefined };
  const state: State = {
    ...model,
    get: async (kind, id) => {
      if (kind === 'key') store.readings++;
      await store.hold;
      if (store.down) throw new Error('the store is down');
      return model.get(kind, id);
    },
  };
  const keys = createKeys(state, { now: () => store.time, ...settings });
  const admin = createKeys(model);
  const subscription = await admin.createSubscription('acme');
  const { secret, key } = await admin.createKey({ subscription: subscription.id, name: 'laptop' });
  const caller = { subscription: subscription.id, key: key.id };
  return { store, keys, admin, subscription, secret, key, caller };
};

t.test('secrets are 256 random bits, stored as a hash', async (t) => {
  const { secret, key, admin } = await setUp();
  t.match(secret, /^sk-sluice-[0-9A-Za-z]{43}$/);
  t.not(newSecret(), newSecret());
  t.match(hashSecret(secret), /^[0-9a-f]{64}$/);
  t.equal(key.display, `sk-sluice-…${secret.slice(-4)}`);
  t.notMatch(JSON.stringify(await admin.listKeys()), secret);
});

t.test('a key is looked up once, then cached', async (t) => {
  const { store, keys, secret, caller } = await setUp();
  t.equal(atOnce(keys, secret), undefined, 'the first request waits for the store');
  t.strictSame(await callerOf(keys, secret), caller);
  t.strictSame(atOnce(keys, secret), caller);
  t.equal(store.readings, 1);
});

t.test('an inactive key is refused, and cached as such', async (t) => {
  const { store, keys, admin, subscription } = await setUp();
  for (const wrong of ['sk-sluice-nothing', ' ', 'x'.repeat(513), 'ключ']) {
    await t.rejects(callerOf(keys, wrong), invalidKey);
    t.equal(atOnce(keys, wrong), 'refused');
  }
  t.equal(store.readings, 3, 'one that is too long is not even looked up');

  const { secret, key } = await admin.createKey({ subscription: subscription.id });
  await t.rejects(callerOf(keys, secret.toUpperCase()), invalidKey, 'case counts');
  await t.rejects(callerOf(keys, ` ${secret}`), invalidKey);
  await admin.suspendKey(key.id);
  await t.rejects(callerOf(keys, secret), invalidKey);
  await admin.resumeKey(key.id);
  await admin.setSubscriptionStatus(subscription.id, 'suspended');
  store.time += 2000;
  await t.rejects(callerOf(keys, secret), invalidKey, 'its subscription is suspended');
  await admin.setSubscriptionStatus(subscription.id, 'active');
  store.time += 2000;
  t.equal((await callerOf(keys, secret)).key, key.id);
  await admin.setSubscriptionStatus(subscription.id, 'closed');
  store.time += 2000;
  await t.rejects(callerOf(keys, secret), invalidKey, 'its subscription is closed');
});

t.test('a hot key is refreshed in the background, once a second', async (t) => {
  const { store, keys, secret, caller } = await setUp();
  await callerOf(keys, secret);
  store.time = 999;
  t.strictSame(atOnce(keys, secret), caller);
  t.equal(store.readings, 1);
  store.time = 1000;
  for (let request = 0; request < 100; request++) t.strictSame(atOnce(keys, secret), caller);
  t.equal(store.readings, 2, 'one reading, however many requests');
  await settled();
  store.time = 1999;
  t.strictSame(atOnce(keys, secret), caller);
  t.equal(store.readings, 2);
});

t.test('a revoked key stops working within two seconds of its last refresh', async (t) => {
  const { store, keys, admin, secret, key, caller } = await setUp();
  await callerOf(keys, secret);
  await admin.revokeKey(key.id);
  store.time = 999;
  t.strictSame(atOnce(keys, secret), caller, 'still believed');
  store.time = 1500;
  t.strictSame(atOnce(keys, secret), caller, 'starts the reading that ends it');
  await settled();
  t.equal(atOnce(keys, secret), 'refused');

  const idle = await setUp();
  await callerOf(idle.keys, idle.secret);
  await idle.admin.revokeKey(idle.key.id);
  idle.store.time = 2000;
  await t.rejects(callerOf(idle.keys, idle.secret), invalidKey, 'an idle one waits for the store');
});

t.test('with a slow store, requests wait for one shared read once the cache is stale', async (t) => {
  const { store, keys, admin, secret, key, caller } = await setUp();
  await callerOf(keys, secret);
  let release = () => {};
  store.hold = new Promise((resolve) => {
    release = resolve;
  });
  store.time = 1000;
  t.strictSame(atOnce(keys, secret), caller);
  await admin.revokeKey(key.id);
  store.time = 2000;
  const waiting = Array.from({ length: 50 }, () => callerOf(keys, secret));
  release();
  for (const outcome of await Promise.allSettled(waiting)) t.match(outcome, { reason: invalidKey });
  t.equal(store.readings, 2);
});

t.test(
  'while the store is down known keys are accepted for half a minute, unknown ones get 503',
  async (t) => {
    const { store, keys, admin, secret, key, caller } = await setUp();
    await callerOf(keys, secret);
    await t.rejects(callerOf(keys, 'sk-sluice-wrong'), invalidKey);
    store.down = true;
    await t.rejects(callerOf(keys, 'sk-sluice-unknown'), unavailable);
    store.time = 2000;
    t.equal(atOnce(keys, secret), undefined, 'the store is asked first');
    t.strictSame(await callerOf(keys, secret), caller);
    const before = store.readings;
    t.strictSame(atOnce(keys, secret), caller, 'then it is served at once');
    t.equal(store.readings, before, 'and the store left alone for a second');
    await t.rejects(callerOf(keys, 'sk-sluice-wrong'), unavailable, 'a refusal is not believed for longer');
    store.time = 29_999;
    t.strictSame(await callerOf(keys, secret), caller);
    store.time = 30_000;
    await t.rejects(callerOf(keys, secret), unavailable);

    store.down = false;
    t.strictSame(await callerOf(keys, secret), caller, 'back');
    store.down = true;
    store.time += 2000;
    t.strictSame(await callerOf(keys, secret), caller);
    await admin.revokeKey(key.id);
    store.down = false;
    store.time += 1000;
    t.strictSame(atOnce(keys, secret), caller);
    await settled();
    t.equal(atOnce(keys, secret), 'refused', 'the first reading after the outage counts');
  },
);

t.test('memory is bounded, and wrong keys do not evict good ones', async (t) => {
  const { store, keys, admin, subscription, secret, caller } = await setUp({
    cached: { active: 2, refused: 2 },
  });
  await callerOf(keys, secret);
  for (let wrong = 0; wrong < 10; wrong++) await t.rejects(callerOf(keys, `wrong-${wrong}`), invalidKey);
  t.strictSame(atOnce(keys, secret), caller);
  t.equal(atOnce(keys, 'wrong-9'), 'refused');
  const before = store.readings;
  await t.rejects(callerOf(keys, 'wrong-0'), invalidKey);
  t.equal(store.readings, before + 1, 'forgotten');
  for (let more = 0; more < 2; more++) {
    const { secret: another } = await admin.createKey({ subscription: subscription.id });
    await callerOf(keys, another);
  }
  t.equal(atOnce(keys, secret), undefined, 'the one not read for longest went first');
});

t.test('keys and subscriptions are managed by id, name or secret', async (t) => {
  const { admin, subscription, secret, key } = await setUp();
  t.match(subscription, { id: /^sub_[0-9a-f]{24}$/, name: 'acme', status: 'active', created: Number });
  t.strictSame(key, {
    id: key.id,
    name: 'laptop',
    subscription: subscription.id,
    status: 'active',
    created: key.created,
    display: `sk-sluice-…${secret.slice(-4)}`,
  });
  t.match(key.id, /^key_[0-9a-f]{24}$/);
  t.strictSame(await admin.findSubscription('acme'), subscription);
  t.strictSame(await admin.findSubscription(subscription.id), subscription);
  t.strictSame(await admin.findKey(secret), key);
  t.strictSame(await admin.listKeys('acme'), [key]);
  const other = await admin.createSubscription('other');
  t.strictSame(await admin.listKeys(other.id), []);
  t.strictSame(await admin.listSubscriptions(), [subscription, other]);

  t.equal((await admin.suspendKey(secret)).status, 'suspended');
  t.equal((await admin.suspendKey(key.id)).status, 'suspended', 'twice is no error');
  t.equal((await admin.resumeKey(key.id)).status, 'active');
  t.equal((await admin.revokeKey(key.id)).status, 'closed');
  t.equal((await admin.revokeKey(key.id)).status, 'closed');
  const message = `Key ${key.id} is closed, which is final`;
  await t.rejects(admin.resumeKey(key.id), { message });
  await t.rejects(admin.suspendKey(key.id), { message });

  await t.rejects(admin.revokeKey('key_0'), { message: 'There is no key "key_0"' });
  await t.rejects(admin.revokeKey('sk-sluice-x'), { message: 'There is no key with that secret' });
  await t.rejects(admin.listKeys('nobody'), { message: 'There is no subscription "nobody"' });
  await t.rejects(admin.createKey({ subscription: 'nobody' }), {
    message: 'There is no subscription "nobody"',
  });
  await t.rejects(admin.setSubscriptionStatus('nobody', 'closed'), {
    message: 'There is no subscription "nobody"',
  });
  await admin.createSubscription('other');
  await t.rejects(admin.findSubscription('other'), {
    message: 'Several subscriptions are named "other": use the id',
  });
  await admin.setSubscriptionStatus(other.id, 'closed');
  await t.rejects(admin.createKey({ subscription: other.id }), {
    message: `Subscription ${other.id} is closed`,
  });
  await t.rejects(admin.setSubscriptionStatus(other.id, 'active'), {
    message: `Subscription ${other.id} is closed, which is final`,
  });
  for (const name of ['', ' padded', 'two\nlines', 'x'.repeat(101)])
    await t.rejects(admin.createSubscription(name), { message: /^name must be/ });
});

t.test('listing continues past one page', async (t) => {
  const { admin, subscription } = await setUp();
  for (let more = 0; more < 1000; more++) await admin.createKey({ subscription: subscription.id });
  t.equal((await admin.listKeys()).length, 1001);
  t.equal((await admin.listKeys('acme')).length, 1001);
});

t.test('concurrent changes by several processes are all applied', async (t) => {
  const file = join(t.testdir(), 'state.db');
  const states = [openLibsqlState(file), openLibsqlState(file)];
  t.teardown(() => Promise.all(states.map((state) => state.close())));
  const [one, two] = states.map((state) => createKeys(state));
  if (one === undefined || two === undefined) throw new Error('two were opened');
  const { id } = await one.createSubscription('shared');
  const { key } = await two.createKey({ subscription: id });
  await Promise.all(
    [one.suspendKey(key.id), two.revokeKey(key.id), one.suspendKey(key.id)].map(async (change) =>
      change.catch((error: Error) => t.match(error.message, /closed, which is final$/)),
    ),
  );
  t.equal((await one.findKey(key.id)).status, 'closed');
});

t.test('the first start creates a key, later ones do not', async (t) => {
  const state = createModelState();
  const secret = (await ensureBootstrapKey(state)) ?? '';
  t.match(secret, /^sk-sluice-/);
  const keys = createKeys(state);
  t.match(await callerOf(keys, secret), { subscription: 'sub_default' });
  t.match(await keys.findSubscription('default'), { id: 'sub_default', status: 'active' });
  t.equal(await ensureBootstrapKey(state), undefined);
  await keys.revokeKey(secret);
  t.equal(await ensureBootstrapKey(state), undefined, 'a revoked key is a key');
});

t.test('a configured key is created once and kept, but not restored after revocation', async (t) => {
  const state = createModelState();
  const wanted = 'my-own-key-of-16+';
  t.equal(await ensureBootstrapKey(state, wanted), wanted);
  t.equal(await ensureBootstrapKey(state, wanted), undefined);
  t.equal(await ensureBootstrapKey(state), undefined);
  const keys = createKeys(state, { staleness: { refresh: 0, limit: 0, outage: 0 } });
  const { key } = await callerOf(keys, wanted);
  t.match(await keys.findKey(wanted), { id: key, display: '…-16+', name: 'bootstrap' });

  await keys.suspendKey(wanted);
  await keys.setSubscriptionStatus('default', 'suspended');
  await ensureBootstrapKey(state, wanted);
  t.match(await callerOf(keys, wanted), { key });

  await keys.revokeKey(wanted);
  await t.rejects(ensureBootstrapKey(state, wanted), {
    message: `The bootstrap key (${key}) was revoked and stays so: set another one.`,
  });
  const elsewhere = await keys.createKey({ subscription: (await keys.createSubscription('else')).id });
  await t.rejects(ensureBootstrapKey(state, elsewhere.secret), { message: /belongs to subscription sub_/ });
  await keys.setSubscriptionStatus('default', 'closed');
  await t.rejects(ensureBootstrapKey(state, 'another-key-of-16'), { message: /sub_default is closed\.$/ });
  for (const short of ['fifteen-letters', 'with a space inside', 'ünïcödé-letters-!!', 'x'.repeat(513)])
    await t.rejects(ensureBootstrapKey(createModelState(), short), { message: /16 to 512 visible/ });
});
