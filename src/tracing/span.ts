/** One stretch of work, as it is recorded and sent. */

export interface SpanEvent {
  readonly name: string;
  /** Unix milliseconds, with a fraction. */
  readonly time: number;
}

export type SpanValue = string | number;

export class Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it is the first of its trace. */
  readonly parentId: string;
  readonly state: string;
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly start = wallClock();
  end = 0;
  failed = false;
  readonly attributes: Record<string, SpanValue> = {};
  readonly events: SpanEvent[] = [];

  constructor(about: Pick<Span, 'traceId' | 'spanId' | 'parentId' | 'state' | 'name' | 'kind'>) {
    this.traceId = about.traceId;
    this.spanId = about.spanId;
    this.parentId = about.parentId;
    this.state = about.state;
    this.name = about.name;
    this.kind = about.kind;
  }
}

/** Unix milliseconds that never go back and know fractions. */
export const wallClock = (): number => performance.timeOrigin + performance.now();
