/** Tests the runner of model servers without any: pinned versions, configurations of the guide, toy models. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parseCatalog } from '../../src/catalog/load.ts';
import { configOf, guideRows, modelIds } from './config.ts';
import type { ModelServer } from './server.ts';
import { readServers } from './servers.ts';
import { tableOf } from './table.ts';
import { dice, idOf, logits, vocabulary, width } from './toys/bigram.ts';
import { ggufFile } from './toys/gguf.ts';
import { writeHuggingFace } from './toys/hugging-face.ts';

t.test('every server has exact versions and a valid configuration in the guide', async (t) => {
  const servers = await readServers();
  t.not(servers.length, 0);
  for (const { slug, server } of servers as readonly { slug: string; server: ModelServer }[]) {
    for (const [name, version] of Object.entries(server.packages))
      t.match(version, /^\d+(\.\d+)+$/, `${slug}: ${name}`);
    const config = configOf(server, {
      writer: ['http://127.0.0.1:1', 'http://127.0.0.1:2'],
      search: ['http://127.0.0.1:3'],
    });
    const { engines, models } = parseCatalog(config, slug, '.');
    t.strictSame(engines.toy?.replicas, ['http://127.0.0.1:1/v1', 'http://127.0.0.1:2/v1'], slug);
    t.ok(
      [modelIds.writer, modelIds.search].every((id) => models.some((model) => model.id === id)),
      slug,
    );
  }
  t.throws(() => guideRows('Nobody'), { message: 'docs/engines.md has no configuration below Nobody' });
});

t.test('toy models', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-toys-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const texts = vocabulary.map(({ text }) => text);
  t.equal(new Set(texts).size, texts.length, 'no text has two tokens');
  t.strictSame([idOf('a'), idOf('\n'), idOf(' two') > 255], [97, 10, true]);
  const table = logits();
  const logit = (last: string, next: string) =>
    (table[idOf(next) * width + idOf(last)] ?? 0) * Math.sqrt(width);
  const odds = Math.exp(logit(dice.trigger, 'heads') - logit(dice.trigger, 'tails'));
  t.ok(Math.abs(odds - dice.sides.heads / dice.sides.tails) < 1e-3, `${odds}`);

  const gguf = ggufFile(4096, 'writer');
  t.equal(gguf.subarray(0, 4).toString(), 'GGUF');
  t.equal(gguf.readUInt32LE(4), 3);
  writeHuggingFace(folder, 4096, 'search');
  const weights = readFileSync(join(folder, 'model.safetensors'));
  const headerLength = Number(weights.readBigUInt64LE());
  const header = JSON.parse(weights.subarray(8, 8 + headerLength).toString()) as Record<
    string,
    { shape: number[]; data_offsets: [number, number] }
  >;
  t.equal(
    Math.max(...Object.values(header).map(({ data_offsets: [, end] }) => end)),
    weights.length - 8 - headerLength,
  );
  t.strictSame(header['lm_head.weight']?.shape, [vocabulary.length, width]);
});

t.test('the table says what was run', async (t) => {
  const [first] = await readServers();
  if (first === undefined) throw new Error('no server');
  const server: ModelServer = { ...first.server, name: 'Some', version: '1.2' };
  const results = [
    { name: 'chat', seconds: 1, problem: undefined },
    { name: 'tools', seconds: 1, problem: 'why' },
  ];
  const row = { slug: 'some', server, missing: undefined, results, seconds: 1.4 };
  t.equal(
    tableOf([row, { ...row, missing: 'no go' }]),
    [
      '| Server | Version | Outcome | Seconds | Exercised |',
      '| --- | --- | --- | --- | --- |',
      '| Some | 1.2 | 1 of 2 failed | 1 | chat, tools |',
      '| Some | 1.2 | skipped | 1 | no go |',
    ].join('\n'),
  );
});
