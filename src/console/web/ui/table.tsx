/** A table with a sticky head, columns that can be sorted, and a sentence where it is empty. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Empty } from './empty.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Aligned right. */
  readonly number?: boolean;
  /** Makes the column sortable. */
  readonly sortBy?: (row: Row) => number | string;
}

export interface TableProps<Row> {
  /** Read out by screen readers; shown only with `captionShown`. */
  readonly caption: string;
  readonly captionShown?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly selected?: string | undefined;
  /** Shown instead of rows. */
  readonly empty?: string;
}

interface Sorting {
  readonly column: number;
  readonly down: boolean;
}

export const Table = <Row,>(props: TableProps<Row>) => {
  const { caption, captionShown = false, columns, rows, rowKey, selected, empty = 'Nothing here.' } = props;
  const [sorting, setSorting] = useState<Sorting>();
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  const shown = sorting === undefined ? rows : sorted(rows, columns[sorting.column]?.sortBy, sorting.down);
  return (
    // Focusable, because a keyboard has no other way to scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls
    <section class="table-frame" tabIndex={0} aria-label={caption}>
      <table class="table">
        <caption class={captionShown ? undefined : 'visually-hidden'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th
                key={column.title}
                scope="col"
                class={column.number ? 'number' : undefined}
                aria-sort={sortOf(sorting, index)}
              >
                {column.sortBy === undefined ? (
                  column.title
                ) : (
                  <button type="button" onClick={() => setSorting(toggled(sorting, index))}>
                    {column.title}
                    {sorting?.column === index ? (sorting.down ? ' ↓' : ' ↑') : ''}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={rowKey(row)} class={rowKey(row) === selected ? 'selected' : undefined}>
              {columns.map((column) => (
                <td key={column.title} class={column.number ? 'number' : undefined}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const sortOf = (sorting: Sorting | undefined, column: number): 'ascending' | 'descending' | undefined => {
  if (sorting?.column !== column) return undefined;
  return sorting.down ? 'descending' : 'ascending';
};

const toggled = (sorting: Sorting | undefined, column: number): Sorting => ({
  column,
  down: sorting?.column === column && !sorting.down,
});

const sorted = <Row,>(rows: readonly Row[], sortBy: Column<Row>['sortBy'], down: boolean): readonly Row[] => {
  if (sortBy === undefined) return rows;
  const compare = (a: Row, b: Row): number => {
    const [one, other] = [sortBy(a), sortBy(b)];
    return typeof one === 'number' && typeof other === 'number'
      ? one - other
      : String(one).localeCompare(String(other));
  };
  return [...rows].sort((a, b) => (down ? compare(b, a) : compare(a, b)));
};
