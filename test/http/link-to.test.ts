/** Tests the base address of links when no public address is set. */
import t from 'tap';
import { linkTo } from '../../src/helpers/address.ts';

t.test('links are reachable, whatever address is listened on', async (t) => {
  t.equal(linkTo('http', { host: '127.0.0.1', port: 8787 }), 'http://127.0.0.1:8787');
  t.equal(linkTo('https', { host: '::1', port: 8787 }), 'https://[::1]:8787');
  t.equal(linkTo('http', { host: '0.0.0.0', port: 8787 }), 'http://127.0.0.1:8787');
  t.equal(linkTo('http', { host: '::', port: 8787 }), 'http://[::1]:8787');
});
