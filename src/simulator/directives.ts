/** Parses the `/sim key=value …` line of a prompt: length, pace and faults. */
import { type ErrorKind, fail } from '../errors.ts';
import type { FinishReason } from '../ports/chat.ts';
import { type RenderErrorCode, renderErrorCodes } from '../ports/render.ts';

/** What is to happen once `after` tokens have been made, or at the end of a shorter answer. */
export type Fault =
  | { readonly type: 'fail'; readonly after: number; readonly kind: ErrorKind; readonly status: number }
  | { readonly type: 'drop' | 'end'; readonly after: number }
  | { readonly type: 'stall'; readonly after: number; readonly milliseconds: number };

export interface Directives {
  /** Exact length of the answer. */
  tokens?: number;
  /** Exact length of the thinking; 0 for none. */
  reasoning?: number;
  /** Tokens a second; infinite means as fast as the reader takes them. */
  rate?: number;
  /** Milliseconds before the first token. */
  first?: number;
  seed?: number | 'random';
  /** The answer, word for word. */
  text?: string;
  /** Answers with the question itself. */
  echo?: true;
  tool?: string;
  calls?: number;
  cached?: number;
  finish?: FinishReason;
  usage?: 'off';
  /** Milliseconds that a video or a song takes. */
  render?: number;
  /** Ends a render when that share of it, 0 to 1, is done. */
  renderFailure?: { readonly code: RenderErrorCode; readonly at: number };
  readonly faults: Fault[];
}

const lineLimit = 64 * 1024;
const tokenLimit = 1_000_000;
const timeLimit = 600_000;
const callLimit = 32;

const failures: ReadonlyMap<string, ErrorKind> = new Map([
  ['400', 'invalid_request'],
  ['401', 'authentication'],
  ['404', 'not_found'],
  ['409', 'conflict'],
  ['413', 'payload_too_large'],
  ['422', 'unprocessable'],
  ['429', 'rate_limited'],
  ['500', 'internal'],
  ['502', 'engine_unreachable'],
  ['503', 'unavailable'],
  ['504', 'timeout'],
  ['529', 'overloaded'],
]);
const finishes: readonly string[] = ['stop', 'length', 'tool_calls', 'content_filter'];

/** Reads one directive's value into the result; returns what it must be when it is not. */
type Reader = (value: string, into: Directives) => string | undefined;

const readers: Readonly<Record<string, Reader>> = {
  tokens: whole('tokens', 0, tokenLimit),
  reasoning: whole('reasoning', 0, tokenLimit),
  cached: whole('cached', 0, Number.MAX_SAFE_INTEGER),
  calls: whole('calls', 1, callLimit),
  first: time('first', '2s'),
  render: time('render', '3s'),
  seed(value, into) {
    if (value === 'random') into.seed = value;
    else if (/^-?\d{1,15}$/.test(value)) into.seed = Number(value);
    else return 'must be a whole number or "random"';
    return undefined;
  },
  rate(value, into) {
    const rate = value === 'max' ? Number.POSITIVE_INFINITY : number(value.replace(/\/s$/, ''));
    if (rate !== Number.POSITIVE_INFINITY && !(rate >= 0.1 && rate <= tokenLimit)) {
      return `must be tokens a second from 0.1 to ${tokenLimit}, such as 50/s, or "max"`;
    }
    into.rate = rate;
    return undefined;
  },
  text(value, into) {
    into.text = value;
    return undefined;
  },
  echo(value, into) {
    if (value !== '') return 'takes no value';
    into.echo = true;
    return undefined;
  },
  tool(value, into) {
    if (value === '') return 'must name a tool';
    into.tool = value;
    return undefined;
  },
  finish(value, into) {
    if (!finishes.includes(value)) return `must be one of ${finishes.join(', ')}`;
    into.finish = value as FinishReason;
    return undefined;
  },
  usage(value, into) {
    if (value !== 'off') return 'must be "off"';
    into.usage = value;
    return undefined;
  },
  fail(value, into) {
    const [status = '', position] = value.split('@', 2);
    const code = renderErrorCodes.find((one) => one === status);
    if (code !== undefined) return renderFailure(code, position, into);
    const kind = failures.get(status);
    const after = place(position);
    if (kind === undefined || after === undefined) {
      return `must be a status and a place, such as 503@10; statuses are ${[...failures.keys()].join(', ')}`;
    }
    into.faults.push({ type: 'fail', after, kind, status: Number(status) });
    return undefined;
  },
  stall(value, into) {
    const [time = '', position] = value.split('@', 2);
    const milliseconds = duration(time);
    const after = place(position);
    if (milliseconds === undefined || after === undefined) {
      return 'must be a time up to 10m and a place, such as 5s@10';
    }
    into.faults.push({ type: 'stall', after, milliseconds });
    return undefined;
  },
  drop: loss('drop'),
  end: loss('end'),
};

export const directiveNames: readonly string[] = Object.keys(readers);

/** `undefined` when the text does not start with a directive line; otherwise its directives and the text after it. */
export function readDirectives(
  text: string,
  field: string,
): { directives: Directives; rest: string } | undefined {
  if (!/^\/sim(?=\s|$)/.test(text)) return undefined;
  const newline = text.indexOf('\n');
  const line = newline === -1 ? text : text.slice(0, newline);
  if (line.length > lineLimit) {
    throw fail('invalid_request', `${field}: the /sim line must be at most ${lineLimit} characters`);
  }
  return {
    directives: readLine(line.slice('/sim'.length), field),
    rest: newline === -1 ? '' : text.slice(newline + 1),
  };
}

// A name, and after `=` or before `@` its value: bare, or quoted as a JSON string.
const directive = /\s*([^\s=@"]+)(?:=("(?:[^"\\]|\\.)*"|[^\s"]*)|(@\S*))?(?=\s|$)/y;

function readLine(line: string, field: string): Directives {
  const directives: Directives = { faults: [] };
  const seen = new Set<string>();
  const rest = line.trimEnd();
  for (directive.lastIndex = 0; directive.lastIndex < rest.length; ) {
    const from = directive.lastIndex;
    const match = directive.exec(rest);
    if (match === null) {
      throw fail('invalid_request', `${field}: cannot read the /sim line at "${excerpt(rest.slice(from))}"`);
    }
    const name = match[1] ?? '';
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (reader === undefined) {
      throw fail('invalid_request', `${field}: unknown /sim directive "${excerpt(name)}"`);
    }
    if (seen.has(name)) throw fail('invalid_request', `${field}: /sim ${name} is given twice`);
    seen.add(name);
    const value = unquote(match[2] ?? match[3] ?? '');
    const complaint = value === undefined ? 'must be quoted as a JSON string' : reader(value, directives);
    if (complaint !== undefined) throw fail('invalid_request', `${field}: /sim ${name} ${complaint}`);
  }
  directives.faults.sort((one, other) => one.after - other.after);
  return directives;
}

function whole(name: 'tokens' | 'reasoning' | 'cached' | 'calls', low: number, high: number): Reader {
  return (text, into) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= low && value <= high)) return `must be a whole number from ${low} to ${high}`;
    into[name] = value;
    return undefined;
  };
}

function time(name: 'first' | 'render', example: string): Reader {
  return (text, into) => {
    const milliseconds = duration(text);
    if (milliseconds === undefined) return `must be a time up to 10m, such as ${example} or 300ms`;
    into[name] = milliseconds;
    return undefined;
  };
}

function loss(type: 'drop' | 'end'): Reader {
  return (value, into) => {
    const after = value.startsWith('@') ? place(value.slice(1)) : undefined;
    if (after === undefined) return `must name a place, as in ${type}@10`;
    into.faults.push({ type, after });
    return undefined;
  };
}

/** The token count after `@`; no place means before the first token. */
function place(text: string | undefined): number | undefined {
  if (text === undefined) return 0;
  const after = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  return after <= tokenLimit ? after : undefined;
}

function renderFailure(
  code: RenderErrorCode,
  position: string | undefined,
  into: Directives,
): string | undefined {
  const percent = /^(\d{1,3})%$/.exec(position ?? '0%')?.[1];
  if (percent === undefined || Number(percent) > 100) return `must name a place, such as ${code}@50%`;
  into.renderFailure = { code, at: Number(percent) / 100 };
  return undefined;
}

function number(text: string): number {
  return /^\d{1,7}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
}

function duration(text: string): number | undefined {
  const match = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text);
  if (match === null) return undefined;
  const unit = match[2] === 'm' ? 60_000 : match[2] === 'ms' ? 1 : 1000;
  const milliseconds = Number(match[1]) * unit;
  return milliseconds <= timeLimit ? milliseconds : undefined;
}

function unquote(value: string): string | undefined {
  if (!value.startsWith('"')) return value;
  try {
    return JSON.parse(value) as string;
  } catch {
    return undefined;
  }
}

const excerpt = (text: string): string => text.trim().slice(0, 40);
