/** Says that live data no longer arrives, and when it is asked for again. */
import { duration } from './format.ts';

export const Interrupted = ({
  interruption,
}: {
  /** Undefined: it arrives. */
  readonly interruption: { readonly message: string; readonly retryMs: number } | undefined;
}) => (
  <div role="status" class="interrupted">
    {interruption !== undefined && (
      <div class="note warning">
        <p>{interruption.message}</p>
        <p>Connecting again in {duration(interruption.retryMs)}. What is shown may be old.</p>
      </div>
    )}
  </div>
);
