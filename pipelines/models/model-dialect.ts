/** A request's headers → the format its model answers and errors are in: any version header means the messages format. */
import type { ErrorDialect } from '../../src/errors.ts';
import type { Exchange } from '../../src/ports/exchange.ts';

export const modelDialect = (header: Exchange['header']): ErrorDialect =>
  header('anthropic-version') === '' ? 'envelope' : 'messages';
