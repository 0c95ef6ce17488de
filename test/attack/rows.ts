/** All attacks, in the order of the table. */
import type { Row } from './row.ts';
import { bodyRows } from './rows/bodies.ts';
import { engineRows } from './rows/engines.ts';
import { mediaRows } from './rows/media.ts';
import { nameRows } from './rows/names.ts';
import { storageRows } from './rows/storage.ts';
import { textRows } from './rows/texts.ts';

export const rows: readonly Row[] = [
  ...bodyRows,
  ...nameRows,
  ...mediaRows,
  ...storageRows,
  ...textRows,
  ...engineRows,
];
