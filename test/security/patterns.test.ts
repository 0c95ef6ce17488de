/** Tests that no regular expression of the product backtracks catastrophically. */
import { fileURLToPath } from 'node:url';
import { createContext, Script } from 'node:vm';
import t from 'tap';
import { patiently } from '../eventually.ts';
import { hostileTexts } from './hostile-texts.ts';
import { type Literal, literalsIn } from './pattern-literals.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Squared time is no harm where only the operator, or a library, writes the text. */
const trusted: Readonly<Record<string, string>> = {
  'src/config.ts': 'settings',
  'src/engines/discovery/source.ts': 'sources of replicas in the settings',
  'src/engines/pool/dispatch.ts': 'addresses of engines',
  'src/catalog/load.ts': 'a file of the operator',
  'src/adapters/redis.ts': 'words of the Redis client',
  'src/adapters/blobs/s3-client.ts': 'an address in the settings',
  'src/adapters/events/kafka-client.ts': 'words of the Kafka client',
  'src/adapters/ledger/clickhouse-connection.ts': 'words of the ClickHouse client',
  'src/adapters/vectors/qdrant-connection.ts': 'an address in the settings, words of the Qdrant client',
  'src/helpers/decimal.ts': 'digits of a number that we made',
};

/** Milliseconds for each text. One call for all of them: each call starts a thread that watches its time. */
const script = new Script(`texts.map((text) => {
  const begun = now();
  text.replace(pattern, '');
  return now() - begun;
})`);
const now = (): number => performance.now();
const context = createContext({ texts: [], pattern: / /, now });
const patience = 1_500;

/** Milliseconds that each text takes; undefined when it was stopped. */
const timesOf = ({ source, flags }: Literal, texts: readonly string[], timeout: number) => {
  Object.assign(context, { pattern: new RegExp(source, flags), texts });
  try {
    return script.runInContext(context, { timeout }) as readonly number[];
  } catch {
    return undefined;
  }
};

/** Short texts find suspects; a long one of the same kind confirms them. */
const isSlow = (literal: Literal, timeout = patience): string | undefined => {
  const texts = [...hostileTexts(literal.source, 4_000)];
  const times = timesOf(literal, texts, timeout);
  for (const [index, text] of texts.entries()) {
    if (times !== undefined && (times[index] ?? 0) < 1.5) continue;
    const unit = text.slice(0, 2_000);
    const long = [unit.repeat(150) + text.slice(2_000)];
    // Once more before it is blamed: the machine may have been busy.
    if (timesOf(literal, long, timeout) === undefined && timesOf(literal, long, timeout) === undefined)
      return JSON.stringify(text.slice(0, 40));
  }
  return undefined;
};

/** An emulator says nothing of time, and keeps some memory of each of the many threads that watch over it. */
const skip = patiently(1) > 5 && 'only where the processor is real';

t.test('linear time', { skip }, async (t) => {
  const literals = literalsIn(root, ['src', 'pipelines', 'schemas']);
  t.ok(literals.length > 150, `${literals.length} patterns were found`);
  const slow = literals
    .filter(({ place }) => trusted[place.split(':')[0] ?? ''] === undefined)
    .flatMap((literal) => {
      const text = isSlow(literal);
      return text === undefined ? [] : [`${literal.place} /${literal.source}/ on ${text}…`];
    });
  t.same(slow, []);
});

t.test('the measurement detects quadratic time and worse', { skip }, async (t) => {
  const literal = (source: string): Literal => ({ place: '', source, flags: '' });
  t.type(isSlow(literal('a+$'), 300), 'string');
  t.type(isSlow(literal('^(a+)+$'), 300), 'string');
  t.equal(isSlow(literal('^a+$')), undefined);
});
