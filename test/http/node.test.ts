import t from 'tap';
import { edgeContract } from '../contracts/edge.ts';

t.test('the edge on node:http', (t) => edgeContract(t, 'node'));
