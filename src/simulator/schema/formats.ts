/** Writes and checks strings of the usual formats. */
import { noun } from '../chat/prose.ts';
import type { Random } from '../random.ts';

interface Format {
  readonly make: (random: Random) => string;
  /** Narrower than the format itself, and never slow. */
  readonly rule: RegExp;
}

/** Nothing longer is looked at. */
const lengthLimit = 200;

const two = (value: number): string => String(value).padStart(2, '0');
const date = (random: Random): string =>
  `${random.integer(2000, 2035)}-${two(random.integer(1, 12))}-${two(random.integer(1, 28))}`;
const time = (random: Random): string =>
  `${two(random.integer(0, 23))}:${two(random.integer(0, 59))}:${two(random.integer(0, 59))}Z`;
const host = (random: Random): string => `${noun(random)}.example.com`;
const uuid = (random: Random): string =>
  `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-a${random.hex(3)}-${random.hex(12)}`;

const dateRule = '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\\d|2[0-8])';
const timeRule = '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(Z|[+-][01]\\d:[0-5]\\d)';
const hostRule = '[a-z0-9]+(\\.[a-z0-9]+)+';

const email = format((random) => `${noun(random)}@example.com`, `[a-z0-9]+@${hostRule}`);
const hostname = format(host, hostRule);
const address = format(
  (random) => `https://${host(random)}/${noun(random)}`,
  `https?://${hostRule}(/[a-z0-9-]*)*`,
);
const path = format((random) => `/${noun(random)}`, '(/[a-z0-9]+)+');

const formats: ReadonlyMap<string, Format> = new Map([
  ['date-time', format((random) => `${date(random)}T${time(random)}`, `${dateRule}T${timeRule}`)],
  ['date', format(date, dateRule)],
  ['time', format(time, timeRule)],
  ['duration', format((random) => `PT${random.integer(1, 59)}M`, 'PT[1-9]\\d?[HMS]')],
  ['email', email],
  ['idn-email', email],
  ['hostname', hostname],
  ['idn-hostname', hostname],
  [
    'ipv4',
    format(
      (random) => `192.0.2.${random.integer(1, 254)}`,
      '(1?[1-9]?\\d\\.){3}(1?[1-9]?\\d|2[0-4]\\d|25[0-5])',
    ),
  ],
  ['ipv6', format((random) => `2001:db8::${random.integer(1, 9999)}`, '2001:db8::[0-9a-f]{1,4}')],
  ['uri', address],
  ['url', address],
  ['iri', address],
  ['uri-reference', path],
  ['iri-reference', path],
  ['uri-template', path],
  ['json-pointer', path],
  ['relative-json-pointer', format((random) => `0/${noun(random)}`, '0(/[a-z0-9]+)+')],
  ['uuid', format(uuid, '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}')],
  ['regex', format((random) => `^${noun(random)}$`, '\\^[a-z]+\\$')],
]);

/** Undefined for a format that is not known: it asks for nothing. */
export const makeFormatted = (name: string, random: Random): string | undefined =>
  formats.get(name)?.make(random);

export function isFormatted(name: string, text: string): boolean {
  const known = formats.get(name);
  return known === undefined || (text.length <= lengthLimit && known.rule.test(text));
}

function format(make: Format['make'], rule: string): Format {
  return { make, rule: new RegExp(`^(?:${rule})$`) };
}
