/** Runs the edge contract on node:http. */
import t from 'tap';
import { edgeContract } from '../contracts/edge.ts';
import { servers } from './servers.ts';

const { name, skip } = servers[1];
t.test('the edge on node:http', { skip }, (t) => edgeContract(t, name));
