/** The request headers that pipelines read and that browsers may send. */
import type { KeptHeader } from '../ports/exchange.ts';

/** On which requests a header means anything: reading one that does not would only cost time. */
type When = 'always' | 'with a body' | 'unless POST';

/** Copied while the server still has them, so that pipelines can read them at any time. */
export const keptHeaders: { readonly [name in KeptHeader]: When } = {
  'content-type': 'always',
  'content-encoding': 'with a body',
  'user-agent': 'always',
  'anthropic-version': 'unless POST',
  range: 'unless POST',
  'sluice-resumable': 'with a body',
  'last-event-id': 'unless POST',
};

/** Allowed to browsers that do not name the headers they want to send. */
export const browserHeaders =
  'authorization, x-api-key, content-type, anthropic-version, anthropic-beta, sluice-resumable, last-event-id';
