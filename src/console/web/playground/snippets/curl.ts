/** Shows a call as a command of a POSIX shell. */
import { type Call, FileText, type Json } from '../call.ts';
import { literal, type Notation } from './literal.ts';

const key = `-H "Authorization: Bearer $SLUICE_KEY"`;

/** A single quote cannot be escaped inside single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const notation: Notation = {
  ...{ true: 'true', false: 'false', null: 'null', lastComma: false, indent: '  ' },
  text: (text) => JSON.stringify(text),
  name: (name) => JSON.stringify(name),
  file: ({ prefix, file }) => `"${prefix}$(base64 < ${quoted(`./${file.name}`)} | tr -d '\\n')"`,
};

/** The shell expands nothing of texts there. */
const unexpanded = (text: string): string => JSON.stringify(text).replaceAll(/[\\$`]/g, '\\$&');
const inHereDocument: Notation = { ...notation, text: unexpanded, name: unexpanded };

export const curl = (call: Call, base: string): string => {
  const address = `${base}${call.path}`;
  if (call.result.kind !== 'job') return request(call, address);
  // The id is the first field of a job.
  return `ID=$(${request(call, address)} | sed -E 's/^\\{"id":"([^"]+)".*/\\1/')
until curl -sS ${quoted(`${address}/`)}"$ID" ${key} |
  grep -qE '"status":"(completed|failed|cancelled)"'; do sleep 1; done
curl -sS --fail-with-body ${quoted(`${address}/`)}"$ID/content" ${key} -o ${quoted(call.result.name)}`;
};

const request = (call: Call, address: string): string => {
  const { json, form, result } = call;
  const lines = [
    `curl ${result.kind === 'events' ? '-sSN' : '-sS'} --fail-with-body ${quoted(address)}`,
    key,
    ...(result.kind === 'file' ? [`-o ${quoted(result.name)}`] : []),
    ...(form ?? []).map(([name, value]) =>
      typeof value === 'string'
        ? `--form-string ${quoted(`${name}=${value}`)}`
        : `-F ${quoted(`${name}=@"${`./${value.name}`.replaceAll(/["\\]/g, '\\$&')}"`)}`,
    ),
    ...(json === undefined ? [] : [`-H 'Content-Type: application/json'`, body(json)]),
  ];
  return lines.join(' \\\n  ');
};

const hasFile = (value: Json | undefined): boolean =>
  value instanceof FileText ||
  (typeof value === 'object' && value !== null && Object.values(value).some(hasFile));

const body = (json: Json): string =>
  hasFile(json)
    ? // Files are put in by the shell.
      `-d @- <<JSON\n${literal(json, inHereDocument)}\nJSON`
    : `-d ${quoted(literal(json, notation))}`;
