/** Parses the `/sim key=value …` line of a prompt: length, pace and faults. */
import { type ErrorKind, fail } from '../errors.ts';
import type { FinishReason } from '../ports/engines/chat.ts';
import { type RenderErrorCode, renderErrorCodes } from '../ports/engines/render.ts';

/** What is to happen once `after` tokens have been made, or at the end of a shorter answer. */
export type Fault =
  | { readonly type: 'fail'; readonly after: number; readonly kind: ErrorKind; readonly status: number }
  | { readonly type: 'drop' | 'end'; readonly after: number }
  | { readonly type: 'stall'; readonly after: number; readonly milliseconds: number };

export interface Directives {
  /** Exact length of the answer. */
  readonly tokens?: number;
  /** Exact length of the thinking; 0 for none. */
  readonly reasoning?: number;
  /** Tokens a second; infinite means as fast as the reader takes them. */
  readonly rate?: number;
  /** Milliseconds before the first token. */
  readonly first?: number;
  readonly seed?: number | 'random';
  /** The answer, word for word. */
  readonly text?: string;
  /** Answers with the question itself. */
  readonly echo?: true;
  readonly tool?: string;
  readonly calls?: number;
  /** Of each tool call, word for word. */
  readonly arguments?: string;
  readonly cached?: number;
  readonly finish?: FinishReason;
  readonly usage?: 'off';
  /** Milliseconds that a video or a song takes. */
  readonly render?: number;
  /** Ends a render when that share of it, 0 to 1, is done. */
  readonly renderFailure?: { readonly code: RenderErrorCode; readonly at: number };
  /** In the order in which they happen. */
  readonly faults: readonly Fault[];
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

/** What one directive sets. */
type Setting = Partial<Omit<Directives, 'faults'>> & { readonly fault?: Fault };
/** A text says what the value must be. */
type Reader = (value: string) => Setting | string;

const readers: Readonly<Record<string, Reader>> = {
  tokens: whole('tokens', 0, tokenLimit),
  reasoning: whole('reasoning', 0, tokenLimit),
  cached: whole('cached', 0, Number.MAX_SAFE_INTEGER),
  calls: whole('calls', 1, callLimit),
  first: time('first', '2s'),
  render: time('render', '3s'),
  seed(value) {
    if (value === 'random') return { seed: value };
    return /^-?\d{1,15}$/.test(value) ? { seed: Number(value) } : 'must be a whole number or "random"';
  },
  rate(value) {
    if (value === 'max') return { rate: Number.POSITIVE_INFINITY };
    const rate = /^\d{1,7}(\.\d{1,3})?(\/s)?$/.test(value) ? Number.parseFloat(value) : Number.NaN;
    if (rate >= 0.1 && rate <= tokenLimit) return { rate };
    return `must be tokens a second from 0.1 to ${tokenLimit}, such as 50/s, or "max"`;
  },
  text: (text) => ({ text }),
  echo: (value) => (value === '' ? { echo: true } : 'takes no value'),
  tool: (tool) => (tool === '' ? 'must name a tool' : { tool }),
  arguments: (text) => ({ arguments: text }),
  finish: (value) =>
    finishes.includes(value) ? { finish: value as FinishReason } : `must be one of ${finishes.join(', ')}`,
  usage: (value) => (value === 'off' ? { usage: value } : 'must be "off"'),
  fail(value) {
    const [status = '', position] = value.split('@', 2);
    const code = renderErrorCodes.find((one) => one === status);
    if (code !== undefined) return renderFailure(code, position);
    const kind = failures.get(status);
    const after = place(position);
    return kind === undefined || after === undefined
      ? `must be a status and a place, such as 503@10; statuses are ${[...failures.keys()].join(', ')}`
      : { fault: { type: 'fail', after, kind, status: Number(status) } };
  },
  stall(value) {
    const [time = '', position] = value.split('@', 2);
    const milliseconds = duration(time);
    const after = place(position);
    return milliseconds === undefined || after === undefined
      ? 'must be a time up to 10m and a place, such as 5s@10'
      : { fault: { type: 'stall', after, milliseconds } };
  },
  drop: loss('drop'),
  end: loss('end'),
};

export const directiveNames: readonly string[] = Object.keys(readers);

/** `rest` is the text after the line, all of it where there is no such line. */
export function readDirectives(text: string, field: string): { directives: Directives; rest: string } {
  if (!/^\/sim(?=\s|$)/.test(text)) return { directives: { faults: [] }, rest: text };
  const [line = ''] = text.split('\n', 1);
  if (line.length > lineLimit) {
    throw fail('invalid_request', `${field}: the /sim line must be at most ${lineLimit} characters`);
  }
  const directives = readLine(line.slice('/sim'.length).trimEnd(), field);
  return { directives, rest: text.slice(line.length + 1) };
}

// A name, and after `=` or before `@` its value: bare, or quoted as a JSON string.
const directive = /\s*([^\s=@"]+)(?:=("(?:[^"\\]|\\.)*"|[^\s"]*)|(@\S*))?(?=\s|$)/y;

function readLine(line: string, field: string): Directives {
  const refuse = (problem: string) => fail('invalid_request', `${field}: ${problem}`);
  const seen = new Set<string>();
  const faults: Fault[] = [];
  const directives: Directives = { faults };
  for (directive.lastIndex = 0; directive.lastIndex < line.length; ) {
    const from = directive.lastIndex;
    const match = directive.exec(line);
    if (match === null) throw refuse(`cannot read the /sim line at "${excerpt(line.slice(from))}"`);
    const name = match[1] ?? '';
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (reader === undefined) throw refuse(`unknown /sim directive "${excerpt(name)}"`);
    if (seen.has(name)) throw refuse(`/sim ${name} is given twice`);
    seen.add(name);
    const value = unquote(match[2] ?? match[3] ?? '');
    const read = value === undefined ? 'must be quoted as a JSON string' : reader(value);
    if (typeof read === 'string') throw refuse(`/sim ${name} ${read}`);
    const { fault, ...setting } = read;
    Object.assign(directives, setting);
    if (fault !== undefined) faults.push(fault);
  }
  faults.sort((one, other) => one.after - other.after);
  return directives;
}

function whole(name: 'tokens' | 'reasoning' | 'cached' | 'calls', low: number, high: number): Reader {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return value >= low && value <= high
      ? { [name]: value }
      : `must be a whole number from ${low} to ${high}`;
  };
}

function time(name: 'first' | 'render', example: string): Reader {
  return (text) => {
    const milliseconds = duration(text);
    return milliseconds === undefined
      ? `must be a time up to 10m, such as ${example} or 300ms`
      : { [name]: milliseconds };
  };
}

function loss(type: 'drop' | 'end'): Reader {
  return (value) => {
    const after = value.startsWith('@') ? place(value.slice(1)) : undefined;
    return after === undefined ? `must name a place, as in ${type}@10` : { fault: { type, after } };
  };
}

/** The token count after `@`; no place means before the first token. */
function place(text: string | undefined): number | undefined {
  if (text === undefined) return 0;
  const after = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  return after <= tokenLimit ? after : undefined;
}

function renderFailure(code: RenderErrorCode, position = '0%'): Setting | string {
  const percent = /^(\d{1,3})%$/.exec(position)?.[1];
  if (percent === undefined || Number(percent) > 100) return `must name a place, such as ${code}@50%`;
  return { renderFailure: { code, at: Number(percent) / 100 } };
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
