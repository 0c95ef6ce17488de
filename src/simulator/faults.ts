/** A wished-for fault in; the failure it becomes out. */
import { type ApiError, fail } from '../errors.ts';
import type { Fault } from './directives.ts';

/** The cause of a failure that stands for a lost connection: the HTTP mode really loses it. */
export class ConnectionLost extends Error {
  readonly how: 'reset' | 'end';

  constructor(how: 'reset' | 'end') {
    super(`Simulated ${how} of the connection`);
    this.name = 'ConnectionLost';
    this.how = how;
  }
}

export function failureOf(fault: Exclude<Fault, { type: 'stall' }>): ApiError {
  switch (fault.type) {
    case 'fail':
      return fail(fault.kind, `Simulated failure ${fault.status}`, {
        headers: fault.status === 429 ? { 'retry-after': '1' } : {},
      });
    case 'drop':
      return fail('engine_unreachable', 'The engine closed the connection', {
        cause: new ConnectionLost('reset'),
      });
    case 'end':
      return fail('engine_unreachable', 'The engine ended its answer early', {
        cause: new ConnectionLost('end'),
      });
  }
}
