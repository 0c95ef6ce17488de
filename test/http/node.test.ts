/** Runs the edge contract on node:http. */
import t from 'tap';
import { edgeContract } from '../contracts/edge.ts';
import { onlyLong } from '../long.ts';
import { servers } from './servers.ts';

const { name, skip } = servers[1];
/** In `npm test` what takes long runs on the other server, where that can run. */
const slow = servers[0].skip === false && onlyLong;
t.test('the edge on node:http', { skip }, (t) => edgeContract(t, name, { slow }));
