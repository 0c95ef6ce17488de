import t from 'tap';
import { edgeContract } from '../contracts/edge.ts';

t.test('the edge on uWebSockets.js', (t) => edgeContract(t, 'uws'));
