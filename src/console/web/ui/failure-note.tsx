/** What failed of a change: that somebody else was faster, or the error, unless a field shows it already. */
import { ApiError } from '../api/http.ts';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import type { Submission } from './use-submit.ts';

export const FailureNote = ({
  of: { failure, problem },
  fields = [],
  onReload,
}: {
  readonly of: Submission;
  /** Those that show their problem themselves. */
  readonly fields?: readonly string[];
  /** Reads again what was to be changed. */
  readonly onReload: () => void;
}) => {
  if (failure === undefined || fields.some((field) => problem(field) !== undefined)) return null;
  if (!(failure instanceof ApiError) || failure.status !== 412) return <ErrorNote error={failure} />;
  return (
    <div class="note warning" role="alert">
      <p>
        <strong>Somebody else changed it since it was loaded.</strong> Nothing was saved. Reload it to see
        what it is now; what you have entered here is then replaced.
      </p>
      <Button small onClick={onReload}>
        Reload
      </Button>
    </div>
  );
};
