/** Alters stored usage events directly, as disk corruption or tampering would. */
import Database from 'libsql';
import type { UsageEvent } from '../../schemas/usage-event.ts';

/** What `change` gives undefined for goes. */
export const rewriteLedger = (file: string, change: (event: UsageEvent) => UsageEvent | undefined): void => {
  const database = new Database(file);
  const blocks = database.prepare('SELECT id, events FROM usage_blocks').raw().all() as [number, string][];
  const rewrite = database.prepare('UPDATE usage_blocks SET events = ? WHERE id = ?');
  for (const [id, text] of blocks) {
    const events = JSON.parse(text) as UsageEvent[];
    rewrite.run([JSON.stringify(events.flatMap((event) => change(event) ?? [])), id]);
  }
  database.close();
};
