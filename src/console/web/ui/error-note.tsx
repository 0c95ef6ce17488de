/** Says what failed: the message of the API, the field it is about, and the request id. */
import { ApiError } from '../api/http.ts';
import { Button } from './button.tsx';

export const ErrorNote = ({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) => (
  <div class="note bad" role="alert">
    <p>{messageOf(error)}</p>
    {error instanceof ApiError && error.requestId !== undefined && (
      <p class="muted">
        Request <span class="mono">{error.requestId}</span>
      </p>
    )}
    {onRetry !== undefined && (
      <Button small onClick={onRetry}>
        Try again
      </Button>
    )}
  </div>
);

export const messageOf = (error: unknown): string => {
  if (error instanceof ApiError)
    return error.status === 0 ? error.message : `${error.status}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
};
