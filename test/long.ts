/** Tests that take long for what they show: their whole number is run by `npm run test:long`, which sets the variable. */

const isLong = process.env.SLUICE_TEST_LONG === '1';

/** Why they are left out; false: they run. */
export const onlyLong = isLong ? false : 'in npm run test:long';

/** How often a property is tried, or how much of a thing is done: `few` times in `npm test`. */
export const orLong = (few: number, many: number): number => (isLong ? many : few);

/** In `npm test` a few of all cases, the first, the last and some between them at equal distances. */
export const someOf = <T>(cases: readonly T[], few: number): readonly T[] => {
  if (isLong || cases.length <= few) return cases;
  const step = (cases.length - 1) / Math.max(1, few - 1);
  return Array.from({ length: few }, (_, index) => cases[Math.round(index * step)] as T);
};
