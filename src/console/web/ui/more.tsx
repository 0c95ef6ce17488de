/** The end of a list that is loaded in parts: how many are here, and a button for more. */
import { Button } from './button.tsx';
import type { LoadedEntries } from './use-entries.ts';

export const More = <T,>({
  of,
  what,
}: {
  readonly of: LoadedEntries<T>;
  /** In the plural. */
  readonly what: string;
}) =>
  of.value?.more === true ? (
    <div class="row">
      <Button onClick={of.loadMore} disabled={of.loading}>
        {of.loading ? 'Loading …' : 'Load older ones'}
      </Button>
      <span class="muted">
        The newest {of.value.entries.length} {what} are here.
      </span>
    </div>
  ) : null;
