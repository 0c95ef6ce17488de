/** Wraps an Admission so that a subscription's own limits replace the catalog's. */
import type { Admission } from '../ports/admission.ts';
import type { LimitsBook } from './book.ts';

export const withOwnLimits = (admission: Admission, book: LimitsBook): Admission => ({
  admit: (request) => {
    const limits = book.of(request.subscription, request.model, request.limits);
    return admission.admit(limits === request.limits ? request : { ...request, limits });
  },
  stats: () => admission.stats(),
  check: () => admission.check(),
  close: () => admission.close(),
});
