/** Checks that every configuration shown in the guides is valid. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { parseCatalog } from '../../src/catalog/load.ts';

const guides = ['docs/engines.md', 'docs/migration.md', 'README.md'];

for (const guide of guides)
  t.test(guide, async (t) => {
    const text = readFileSync(new URL(`../../${guide}`, import.meta.url), 'utf8');
    const rows = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = '']) => yaml);
    const ours = rows.filter((yaml) => /^engines:/m.test(yaml));
    t.not(ours.length, 0);
    for (const yaml of ours) {
      const { engines, models } = parseCatalog(yaml, guide, '.');
      t.not(models.length, 0, Object.keys(engines).join(', '));
    }
  });
