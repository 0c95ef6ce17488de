/** Micro-benchmarks of in-process admission: admitted, among many gates, rejected, and after waiting. */

import { createLocalAdmission } from '../../src/adapters/admission/local.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import type { AdmissionRequest, Lease } from '../../src/ports/admission.ts';
import type { MicroCase } from './run.ts';

/** One decision per millisecond: the window holds sixty thousand starts. */
let time = 0;
const clock = { now: () => time, after: () => () => undefined };
const admission = createLocalAdmission({ clock });

const request = (
  subscription: string,
  concurrency: number,
  requests_per_minute: number,
): AdmissionRequest => ({
  subscription,
  model: 'acme/writer-large',
  limits: { concurrency, requests_per_minute },
});

const free = request('sub_0123456789abcdef01234567', 64, 100_000);
const many = Array.from({ length: 10_000 }, (_, index) => request(`sub_${index}`, 64, 100_000));
const full = request('sub_full', 64, 1);
const narrow = request('sub_narrow', 1, 100_000);

const refused = { error: () => undefined };
let held: Lease | undefined;
admission.admit(full);

const admitAndRelease = (asked: AdmissionRequest): void => {
  time += 1;
  emitted(admission.admit(asked)).subscribe((lease) => lease.release());
};

export const admissionCases: readonly MicroCase[] = [
  { name: 'admission in process: admit and release', run: () => admitAndRelease(free) },
  {
    name: 'admission in process: admit and release, ten thousand gates',
    run: () => admitAndRelease(many[time % 10_000] ?? free),
  },
  {
    name: 'admission in process: refuse, the window is full',
    run: () => emitted(admission.admit(full)).subscribe(refused),
  },
  {
    name: 'admission in process: wait, be woken by a release',
    run: () => {
      time += 1;
      const before = held;
      emitted(admission.admit(narrow)).subscribe((lease) => {
        held = lease;
      });
      before?.release();
    },
  },
];
