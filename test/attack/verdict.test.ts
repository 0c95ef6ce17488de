import { test } from 'tap';
import { type Complaint, complaintsOf, type Measurement } from './verdict.ts';

const good: Measurement = {
  idle: { sent: 100, p50: 2, p99: 30, failures: {} },
  attacked: { sent: 100, p50: 3, p99: 60, failures: {} },
  peakRss: 200,
  maxRss: 384,
  attacker: { '429': 10 },
  ending: undefined,
};

const complaintsAbout = (change: Partial<Measurement>): readonly Complaint['about'][] =>
  complaintsOf({ ...good, ...change }).map(({ about }) => about);

test('a victim that was not harmed', (t) => {
  t.same(complaintsOf(good), [], 'p99 may double');
  const quick = { ...good.idle, p99: 3 };
  t.same(complaintsAbout({ idle: quick, attacked: { ...quick, p99: 50 } }), [], 'or be 50 ms');
  t.end();
});

test('each harm is a complaint', (t) => {
  t.same(complaintsAbout({ attacked: { ...good.attacked, p99: 61 } }), ['latency']);
  t.same(complaintsAbout({ attacked: { ...good.attacked, failures: { 503: 1 } } }), ['failures']);
  t.same(complaintsAbout({ attacked: { ...good.attacked, sent: 0 } }), ['failures']);
  t.same(complaintsAbout({ peakRss: 385 }), ['memory']);
  t.same(complaintsAbout({ ending: 'SIGABRT' }), ['process']);
  t.end();
});

test('a measurement that tells nothing does not pass', (t) => {
  t.same(complaintsAbout({ attacker: {} }), ['attack']);
  t.same(complaintsAbout({ attacker: { bytes: 0 } }), ['attack']);
  t.same(complaintsAbout({ idle: { ...good.idle, failures: { late: 1 } } }), ['attack']);
  t.same(complaintsAbout({ idle: { ...good.idle, sent: 0 } }), ['attack']);
  t.end();
});
