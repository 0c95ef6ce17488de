/** The Vectors port on Qdrant. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { openQdrantVectors } from '../../src/adapters/vectors/qdrant.ts';
import { vectorsContract } from '../contracts/vectors.ts';
import { qdrantMissing, startQdrant } from '../services/qdrant.ts';

t.test('contract', { skip: qdrantMissing() ?? false }, async (t) => {
  const service = await startQdrant();
  const prefix = `sluice_test_${randomBytes(6).toString('hex')}_`;
  t.teardown(() => service.stop());
  await vectorsContract(t, () => openQdrantVectors(service.url, { prefix }), { histories: 15 });
});
