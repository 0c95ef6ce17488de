/** Tests that pooled buffers never show one client the vectors of another. */
import * as fc from 'fast-check';
import t from 'tap';
import { PooledCopies } from '../../src/helpers/buffer-pool.ts';
import { startScriptedEngine } from '../engines/scripted-engine.ts';
import { servers } from '../http/servers.ts';
import { startPosting, type Vectors, vectorsOf } from './posting.ts';

t.test('copies stay as they are until they are released', async (t) => {
  const lengths = fc.constantFrom(1, 700, 20_000, 40_000, 65_535, 65_536, 65_537);
  const step = fc.record({ line: fc.nat({ max: 2 }), copy: fc.option(lengths) });
  const read = Buffer.alloc(65_537);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const lines = Array.from({ length: 3 }, () => ({
        pooled: new PooledCopies(),
        copies: [] as { readonly copy: Buffer; readonly fill: number }[],
      }));
      for (const [number, { line, copy: length }] of steps.entries()) {
        const at = lines[line];
        if (at === undefined) continue;
        if (length === null) {
          at.pooled.release();
          lines[line] = { pooled: new PooledCopies(), copies: [] };
          continue;
        }
        const fill = (number % 255) + 1;
        at.copies.push({ copy: at.pooled.copy(read.subarray(0, length).fill(fill)), fill });
        if (at.copies.at(-1)?.copy.length !== length) return false;
        read.fill(0);
      }
      return lines.every(({ copies }) =>
        copies.every(({ copy, fill }) => copy.equals(Buffer.alloc(copy.length, fill))),
      );
    }),
    { numRuns: 100, endOnFailure: true },
  );
  t.pass('agreed');
});

t.test('buffers are used again, but not what is copied after the release', async (t) => {
  const read = Buffer.alloc(1_000, 'a');
  const one = new PooledCopies();
  const first = one.copy(read);
  one.release();
  one.release();
  const late = one.copy(read);
  const [two, three] = [new PooledCopies(), new PooledCopies()];
  const second = two.copy(read.fill('b'));
  const third = three.copy(read.fill('c'));
  t.equal(second.buffer, first.buffer);
  t.not(third.buffer, second.buffer);
  t.equal(late.toString(), 'a'.repeat(1_000));
});

const dimensions = 1_000;
/** Every number of a client's vectors has its number in it. */
const vectorOf = (client: number, input: number): number[] =>
  Array.from({ length: dimensions }, (_, at) => client + (input * dimensions + at) / 1e6);
const bytesOf = (numbers: readonly number[]): Buffer => Buffer.from(Float32Array.from(numbers).buffer);
const clientOf = (text: string): number => Number(text.split(' ')[0]);

for (const { name, skip } of servers)
  t.test(`clients get their own vectors, also beside some that leave: ${name}`, { skip }, async (t) => {
    const engine = await startScriptedEngine((request) => {
      const { input } = JSON.parse(request.body) as { input: readonly string[] };
      const data = input.map((text, index) => ({ index, embedding: vectorOf(clientOf(text), index) }));
      request.json(200, { data, usage: { prompt_tokens: 1, total_tokens: 1 } });
    });
    const { gateway, post } = await startPosting<Vectors>({
      env: { SLUICE_EDGE: name },
      catalog: `
engines:
  far: { wire: openai, replicas: ['${engine.url}'] }
models:
  far/embed: { kind: embedding, engine: far, context_length: 512, pricing: { prompt: '0' }, capabilities: { embedding: { dimensions: ${dimensions} } } }
`,
    });
    t.teardown(async () => {
      await gateway.stop();
      await engine.close();
    });
    const inputs = 40;
    const bodyOf = (client: number): unknown => ({
      model: 'far/embed',
      input: Array.from({ length: inputs }, (_, index) => `${client} ${index}`),
      ...(client % 3 === 0 && { encoding_format: 'base64' }),
    });
    const ask = async (client: number): Promise<void> => {
      const said = await post('/embeddings', bodyOf(client));
      const found = vectorsOf(said).flat();
      const expected = Array.from({ length: inputs }, (_, index) => vectorOf(client, index)).flat();
      t.ok(bytesOf(found).equals(bytesOf(expected)), `client ${client}`);
    };
    const leave = async (client: number): Promise<void> => {
      const response = await fetch(`${gateway.url}/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(client)),
      });
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    };
    for (let round = 0; round < 2; round++)
      await Promise.all(
        Array.from({ length: 8 }, (_, index) => {
          const client = round * 8 + index + 1;
          return index % 4 === 3 ? leave(client) : ask(client);
        }),
      );
  });
