/** Runs the contract of balancing policies against each of them. */
import t from 'tap';
import { LeastBusy } from '../../src/engines/pool/policies/least-busy.ts';
import { PrefixAffinity } from '../../src/engines/pool/policies/prefix.ts';
import { SessionAffinity } from '../../src/engines/pool/policies/session.ts';
import { policyContract } from '../contracts/policy.ts';

t.test('least busy', async (t) => policyContract(t, () => new LeastBusy(), { sticky: false }));
t.test('prefix', async (t) => policyContract(t, () => new PrefixAffinity(), { sticky: true }));
t.test('session', async (t) => policyContract(t, () => new SessionAffinity(), { sticky: true }));
