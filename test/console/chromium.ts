/** Finds the Chromium of this machine. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

export const chromiumPath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

export const missingChromium: string | undefined =
  chromiumPath === undefined ? `none of ${names.join(', ')} is installed` : undefined;
