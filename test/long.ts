/** Tests that take long for what they show: conversions of every kind into every other, and deadlines that are waited for. */

/** Why they are left out; false: they run. `npm run test:long` sets the variable. */
export const onlyLong = process.env.SLUICE_TEST_LONG === '1' ? false : 'in npm run test:long';
