/** Wraps an Admission so that a subscription's own limits replace the catalog's. */
import { type Admission, type AdmissionRequest, type Limits, sumOfLimits } from '../ports/admission.ts';
import type { LimitsBook } from './book.ts';

export const withOwnLimits = (admission: Admission, book: LimitsBook): Admission => ({
  admit: (request) => {
    const limits = limitsOf(book, request);
    return admission.admit(limits === request.limits ? request : { ...request, limits });
  },
  stats: () => admission.stats(),
  check: () => admission.check(),
  close: () => admission.close(),
});

const limitsOf = (book: LimitsBook, { subscription, model, limits, anyOf }: AdmissionRequest): Limits =>
  anyOf === undefined
    ? book.of(subscription, model, limits)
    : sumOfLimits(anyOf.map((one) => book.of(subscription, one.id, one.limits)));
