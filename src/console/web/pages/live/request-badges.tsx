/** States of requests as coloured words. */
import type { LiveRow } from '../../../../../schemas/admin/live.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { bytes } from '../../ui/format.ts';
import { isRunning, type Shown } from './timeline.ts';

const states: Readonly<Record<LiveRow['state'], Tone>> = {
  receiving: 'neutral',
  queued: 'warning',
  running: 'neutral',
  streaming: 'accent',
};

export const StateBadge = ({ request }: { readonly request: Shown }) => {
  if (isRunning(request)) return <Badge tone={states[request.state]}>{request.state}</Badge>;
  if (request.cut !== null) return <Badge tone="warning">{request.status === 0 ? 'left' : 'cut off'}</Badge>;
  return <Badge tone={request.status < 400 ? 'good' : 'bad'}>{request.status}</Badge>;
};

/** What is unusual about it. */
export const Signs = ({ request }: { readonly request: Shown }) => (
  <>
    {isRunning(request) && request.slow_reader && (
      <Badge
        tone="warning"
        title={`The client reads too slowly: the engine is not read meanwhile; ${bytes(request.unread_bytes)} wait in the gateway`}
      >
        slow reader
      </Badge>
    )}
    {request.attempts > 1 && (
      <Badge tone="warning" title="Calls that were sent to engines">
        {request.attempts} attempts
      </Badge>
    )}
    {request.continuations > 0 && (
      <Badge tone="accent" title="Its stream broke off, and another replica went on with it">
        continued{request.continuations > 1 ? ` ×${request.continuations}` : ''}
      </Badge>
    )}
  </>
);
