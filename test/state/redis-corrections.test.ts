/** Tests that Redis's library does not slow down strings. */
import { setFlagsFromString } from 'node:v8';
import t from 'tap';
import '../../src/adapters/redis-corrections.ts';

t.test('methods of strings are called as fast as without it', async (t) => {
  setFlagsFromString('--allow-natives-syntax');
  t.ok(new Function('return %HasFastProperties(String.prototype)')());
});
