/** Admission within one process. */
import t from 'tap';
import { createLocalAdmission } from '../../src/adapters/admission/local.ts';
import { admissionContract } from '../contracts/admission.ts';
import { VirtualClock } from './virtual-clock.ts';

t.test('contract', async (t) => {
  await admissionContract(
    t,
    async (rules) => {
      const clock = new VirtualClock();
      const admission = createLocalAdmission({ ...rules, clock });
      return { replicas: [admission, admission], clock, close: () => admission.close() };
    },
    200,
  );
});
