/** A correction of ioredis 6.0.0, imported for its effect: it would slow down every string of the process. */
import 'ioredis';

/**
 * The library has a class that extends `String`. V8 then takes `String.prototype` for an object that is still being set
 * up, and optimized code looks up each method of a string: 47 ns for three calls instead of 14. Reading a property of a
 * String object ends that as soon as V8 caches the read, after about ten; reading one of a string never does.
 */
const readMethod = (text: object): unknown => text.valueOf;
const enough = 100;
for (let count = 0; count < enough; count++) readMethod(new String());
