/** Tests what a configuration says of fallbacks, retries and circuit breakers: mistakes name the field. */
import t from 'tap';
import { parseCatalog } from '../../src/catalog/load.ts';
import { CatalogFileError } from '../../src/catalog/problems.ts';

const problems = (models: string, engine = ''): readonly string[] => {
  const text = `engines:\n  lab: { wire: openai, replicas: ['http://127.0.0.1:1/v1'] ${engine} }\nmodels:\n${models}`;
  try {
    parseCatalog(text, 'sluice.yaml', '/');
    return [];
  } catch (error) {
    if (error instanceof CatalogFileError) return error.problems.map((each) => each.replace(/^\S+ /, ''));
    throw error;
  }
};

const chat = (id: string, fallbacks: string, more = ''): string =>
  `  ${id}: { engine: lab, context_length: 100, fallbacks: [${fallbacks}] ${more} }\n`;

t.test('names, loops, kinds', async (t) => {
  t.strictSame(problems(`${chat('a', 'b') + chat('b', 'c')}  c: { engine: lab, context_length: 100 }\n`), []);
  t.strictSame(
    problems(`${chat('acme/one', 'acme/tow')}  acme/two: { engine: lab, context_length: 100 }\n`),
    ['models.acme/one.fallbacks[0] names no row under models; did you mean acme/two?'],
  );
  t.strictSame(problems(chat('a', 'constructor')), ['models.a.fallbacks[0] names no row under models']);
  t.strictSame(problems(chat('a', 'a')), ['models.a.fallbacks[0] leads back to a']);
  t.strictSame(problems(chat('a', 'b') + chat('b', 'c') + chat('c', 'a')), [
    'models.a.fallbacks[0] leads back to a',
    'models.b.fallbacks[0] leads back to b',
    'models.c.fallbacks[0] leads back to c',
  ]);
  t.strictSame(problems(`${chat('a', 'm')}  m: { kind: rerank, engine: lab, context_length: 100 }\n`), [
    'models.a.fallbacks[0] must name a chat model, and m is of kind rerank',
  ]);
  t.strictSame(
    problems('  v: { kind: video, engine: lab, fallbacks: [w] }\n  w: { kind: video, engine: lab }\n'),
    ['models.v.fallbacks has no meaning for a video model'],
  );
  t.strictSame(problems(`${chat('a', 'b, b')}  b: { engine: lab, context_length: 100 }\n`).length, 1);
  t.strictSame(problems(chat('a', '')).length, 1, 'an empty list');
});

t.test('vectors of the same length', async (t) => {
  const embedding = (id: string, dimensions: number, more = ''): string =>
    `  ${id}: { kind: embedding, engine: lab, context_length: 100, capabilities: { embedding: { dimensions: ${dimensions} } } ${more} }\n`;
  t.strictSame(problems(embedding('a', 8, ', fallbacks: [b]') + embedding('b', 8)), []);
  t.strictSame(problems(embedding('a', 8, ', fallbacks: [b]') + embedding('b', 16)), [
    'models.a.fallbacks[0] must name a model with vectors of the same length: 8, not 16',
  ]);
});

t.test('a chain has an end, and at most eight models', async (t) => {
  const chain = (count: number): string =>
    Array.from({ length: count }, (_, at) => chat(`m${at}`, `m${at + 1}`)).join('') +
    `  m${count}: { engine: lab, context_length: 100 }\n`;
  t.strictSame(problems(chain(8)), []);
  t.strictSame(problems(chain(9)), [
    'models.m0.fallbacks must lead to at most 8 models, those of its fallbacks included',
  ]);
  const { models } = parseCatalog(
    `models:\n${chat('a', 'b, c').replace('lab', 'simulator')}${chat('b', 'd, c').replace('lab', 'simulator')}` +
      `  c: { engine: simulator, context_length: 9 }\n  d: { engine: simulator, context_length: 9 }\n`,
    'sluice.yaml',
    '/',
  );
  t.strictSame(models[0]?.fallbacks, ['b', 'c', 'd'], 'its own first, each once');
});

t.test('numbers of an engine', async (t) => {
  const model = '  a: { engine: lab, context_length: 9 }\n';
  t.strictSame(
    problems(
      model,
      ', retries: { attempts: 1, backoff: 10ms, max_backoff: 1s, budget: 0.1, budget_min: 0 }, queue: { length: 0, wait: 1s }, circuit_breaker: { connection_failures: 1, server_failures: 1, cooldown: 1s, max_cooldown: 1m }',
    ),
    [],
  );
  for (const [field, value] of [
    ['retries.attempts', 0],
    ['retries.attempts', 11],
    ['retries.backoff', 5],
    ['retries.budget', 1.1],
    ['retries.budget_min', -1],
    ['circuit_breaker.connection_failures', 0],
    ['circuit_breaker.cooldown', '1'],
    ['queue.length', -1],
    ['queue.wait', 'soon'],
  ] as const) {
    const [group, name] = field.split('.');
    const [problem = ''] = problems(model, `, ${group}: { ${name}: ${value} }`);
    t.ok(problem.startsWith(`engines.lab.${field} must `), `${field}: ${problem}`);
  }
});
