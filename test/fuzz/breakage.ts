/** Breaks a valid value or body, in its tree or in its bytes. */
import type { Random } from '../../src/simulator/random.ts';
import type { Json, JsonObject } from './document.ts';

const nested = (depth: number): Json => {
  let value: Json = 0;
  for (let left = depth; left > 0; left--) value = [value];
  return value;
};

const oddities: readonly [Json, ...Json[]] = [
  null,
  true,
  '',
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [[]],
  [null],
  'x'.repeat(20_000),
  // Enough to be parsed on another thread.
  'x'.repeat(300_000),
  'QUFB'.repeat(100_000),
  '\ud800',
  '\0',
  '\u202e\ufeff\uffff',
  '../../etc/passwd',
  "'; DROP TABLE jobs; --",
  '%00%2e%2e',
  'NaN',
  'constructor',
  '__proto__',
  'data:image/png;base64,AAAA',
  'data:;base64,%%%',
  'https://0x7f.1/latest/meta-data',
  'file:///etc/passwd',
  'https://user:secret@example.com/',
  nested(40),
  nested(200),
  Array.from({ length: 3000 }, () => 'many'),
  Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`key${at}`, at])),
];

/** Names that mean something to JavaScript; written as text, since an assignment would swallow the first. */
const inheritedNames: readonly [string, ...string[]] = [
  '"__proto__":{"polluted":true}',
  '"__proto__":null',
  '"constructor":{"prototype":{"polluted":true}}',
  '"toString":"polluted"',
  '"hasOwnProperty":1',
  '"then":{"polluted":true}',
  '"toJSON":"polluted"',
];

type Holder = Json[] | JsonObject;
interface Place {
  readonly holder: Holder;
  readonly key: string;
}

/** Changes the value in place, one to three times. */
export const breakValue = (root: JsonObject, random: Random): void => {
  for (let times = random.integer(1, 3); times > 0; times--) {
    const place = pickPlace(root, random);
    if (place === undefined) return;
    breakAt(place, random);
  }
};

const pickPlace = (root: JsonObject, random: Random): Place | undefined => {
  const places: Place[] = [];
  const walk = (holder: Holder): void => {
    for (const [key, value] of Object.entries(holder)) {
      if (places.length >= 200) return;
      places.push({ holder, key });
      if (typeof value === 'object' && value !== null) walk(value);
    }
  };
  walk(root);
  return places[random.integer(0, places.length - 1)];
};

const breakAt = ({ holder, key }: Place, random: Random): void => {
  const value = Reflect.get(holder, key) as Json;
  const way = random.integer(0, 5);
  if (way === 0) Reflect.deleteProperty(holder, key);
  else if (way === 1) Reflect.set(holder, key, nearMiss(value, random));
  else if (way === 2 && Array.isArray(holder)) holder.push(value);
  else if (way === 2) Reflect.set(holder, `${key}_unknown`, value);
  else Reflect.set(holder, key, structuredClone(random.pick(oddities)));
};

const nearMiss = (value: Json, random: Random): Json => {
  if (typeof value === 'number') return random.pick<Json>([-value, value * 1e6, value + 0.5, String(value)]);
  if (typeof value === 'string')
    return random.pick<Json>([`${value}\0`, [value], value.slice(1), `${value} `]);
  return random.pick<Json>([[value], JSON.stringify(value)]);
};

/** JSON text of the value, sometimes with names in it that every object inherits. */
export const toText = (value: JsonObject, random: Random): string => {
  const text = JSON.stringify(value);
  if (random.fraction() > 0.25) return text;
  const opened = [...text.matchAll(/\{/g)].slice(0, 50);
  const at = (opened[random.integer(0, opened.length - 1)]?.index ?? 0) + 1;
  const next = text[at] === '}' ? '' : ',';
  return `${text.slice(0, at)}${random.pick(inheritedNames)}${next}${text.slice(at)}`;
};

export const breakBytes = (bytes: Buffer, random: Random): Buffer => {
  const at = random.integer(0, bytes.length);
  switch (random.integer(0, 6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0xc0, 0x80]), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([Buffer.from('\ufeff'), bytes]);
    case 3:
      return Buffer.concat([bytes, bytes.subarray(0, at)]);
    case 4:
      return Buffer.from(
        random.pick(['', 'null', '[]', '"text"', '1e999', '{', '{"a":1,"a":2}', '{"n":1e999}']),
      );
    case 5:
      return Buffer.from(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`);
    default: {
      const flipped = Buffer.from(bytes);
      if (flipped.length > 0) flipped[at % flipped.length] = random.integer(0, 255);
      return flipped;
    }
  }
};
