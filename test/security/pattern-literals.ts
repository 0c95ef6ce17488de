/** Lists the regular expression literals in folders of TypeScript. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Literal {
  /** File and line. */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

export const literalsIn = (root: string, folders: readonly string[]): readonly Literal[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => ofFile(root, join(folder, file))),
  );

/** What may precede an expression; anything else before a slash makes it a division or a comment. */
const before = /(?:[(,=:[!&|?{};]|\breturn|=>|^)\s*$/;

const ofFile = (root: string, file: string): readonly Literal[] =>
  readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((line, index) => ofLine(line, `${file}:${index + 1}`));

const ofLine = (line: string, place: string): readonly Literal[] => {
  if (/^\s*(?:\/?\*|\/\/)/.test(line)) return [];
  const found: Literal[] = [];
  for (let at = line.indexOf('/'); at !== -1; at = line.indexOf('/', at + 1)) {
    if (line[at + 1] === '/' || line[at + 1] === '*' || !before.test(line.slice(0, at))) continue;
    const end = endOf(line, at + 1);
    if (end === undefined) continue;
    const flags = /^[dgimsuvy]*/.exec(line.slice(end + 1))?.[0] ?? '';
    const source = line.slice(at + 1, end);
    if (isPattern(source, flags)) found.push({ place, source, flags });
    at = end;
  }
  return found;
};

/** Of the closing slash; those in classes and behind backslashes do not close. */
const endOf = (line: string, start: number): number | undefined => {
  let inClass = false;
  for (let at = start; at < line.length; at++) {
    const character = line[at];
    if (character === '\\') at++;
    else if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    else if (character === '/' && !inClass) return at;
  }
  return undefined;
};

const isPattern = (source: string, flags: string): boolean => {
  try {
    return new RegExp(source, flags).source !== '';
  } catch {
    return false;
  }
};
