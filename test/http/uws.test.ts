/** Runs the edge contract on uWebSockets.js. */
import t from 'tap';
import { edgeContract } from '../contracts/edge.ts';
import { servers } from './servers.ts';

const { name, skip } = servers[0];
t.test('the edge on uWebSockets.js', { skip }, (t) => edgeContract(t, name));
