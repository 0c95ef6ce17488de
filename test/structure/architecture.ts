/** Checks imports against the tables of modules and packages in ARCHITECTURE.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

export interface Module {
  readonly name: string;
  /** Folders and files it consists of. */
  readonly paths: readonly string[];
  /** Names of modules, or single files of them. */
  readonly mayImport: readonly string[];
}

export interface Package {
  readonly name: string;
  /** Names of modules; undefined: any module. */
  readonly importedBy: readonly string[] | undefined;
}

export interface Architecture {
  /** In order: a module may import only those before it. */
  readonly modules: readonly Module[];
  readonly packages: readonly Package[];
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

interface Import {
  readonly line: number;
  /** A file of ours, or the name of a package. */
  readonly target: string;
}

export const readArchitecture = (markdown: string): Architecture => ({
  modules: rowsUnder(markdown, '| Module |').map(([first = '', , third = '']) => {
    const group = /^`([\w-]+)`: /.exec(first);
    const paths = quoted(group === null ? first : first.slice(group[0].length));
    return { name: group?.[1] ?? nameOf(paths[0] ?? ''), paths, mayImport: quoted(third) };
  }),
  packages: rowsUnder(markdown, '| Package |').flatMap(([first = '', second = '']) =>
    quoted(first).map((name) => ({ name, importedBy: second === 'any module' ? undefined : quoted(second) })),
  ),
});

const rowsUnder = (markdown: string, header: string): string[][] => {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith(header));
  if (start === -1) throw new Error(`ARCHITECTURE.md has no table that begins with ${header}`);
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return lines.slice(start + 2, length === -1 ? undefined : start + length).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim()),
  );
};

const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);

/** How the table names a path: `src/http` is `http`, `src/errors.ts` is `errors`, `pipelines/core` stays. */
const nameOf = (path: string): string => path.replace(/^src\//, '').replace(/\.ts$/, '');

/** Every TypeScript file below these folders. */
export const readSources = (root: URL, folders: readonly string[]): SourceFile[] =>
  folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return readSources(root, [path]);
      return /\.tsx?$/.test(path) ? [{ path, text: readFileSync(new URL(path, root), 'utf8') }] : [];
    }),
  );

/** Any relative path to a source file counts, so that type imports and scripts of threads do too. */
const ownFile = /'(\.\.?\/[^'\n]+\.tsx?)'/g;
const packageName =
  /(?:\bfrom|\bimport|\bimport\(|\brequire\(|\)\(|\.resolve\()\s*'((?:@[\w-]+\/)?[\w.-]+)[^'\n]*'/g;
const environment = /\bprocess\s*(?:\?\.|\.|\[['"`])\s*env\b|'node:process'/g;

const importsOf = ({ path, text }: SourceFile): Import[] => [
  ...matches(text, ownFile).map(({ line, target }) => ({
    line,
    target: posix.join(posix.dirname(path), target),
  })),
  ...matches(text, packageName).filter(({ target }) => !target.startsWith('.') && target !== 'node'),
];

const matches = (text: string, pattern: RegExp): Import[] =>
  [...text.matchAll(pattern)].map(({ index, 0: whole, 1: target = whole }) => ({
    line: text.slice(0, index + whole.indexOf(target)).split('\n').length,
    target,
  }));

/** One sentence for each way in which sources and tables disagree. */
export const findProblems = (architecture: Architecture, sources: readonly SourceFile[]): string[] => [
  ...tableProblems(architecture.modules, sources),
  ...importProblems(architecture, sources),
  ...sources.flatMap(environmentProblems),
];

const moduleOf = (modules: readonly Module[], path: string): Module | undefined =>
  modules.find(({ paths }) => paths.some((each) => path === each || path.startsWith(`${each}/`)));

const tableProblems = (modules: readonly Module[], sources: readonly SourceFile[]): string[] => {
  const names = modules.map(({ name }) => name);
  const files = new Set(sources.map(({ path }) => path));
  const known = (allowance: string): string | undefined =>
    names.includes(allowance)
      ? allowance
      : [`src/${allowance}`, allowance].flatMap((path) =>
          files.has(path) ? [moduleOf(modules, path)?.name] : [],
        )[0];
  return [
    ...names
      .filter((name, at) => names.indexOf(name) !== at)
      .map((name) => `ARCHITECTURE.md has two rows for ${name}`),
    ...modules.flatMap(({ paths }) =>
      paths
        .filter(
          (path) => !sources.some((source) => source.path === path || source.path.startsWith(`${path}/`)),
        )
        .map((path) => `ARCHITECTURE.md lists ${path}, which does not exist`),
    ),
    ...modules.flatMap(({ name, mayImport }, at) =>
      mayImport.flatMap((allowance) => {
        const target = known(allowance);
        if (target === undefined)
          return [`ARCHITECTURE.md lets ${name} import ${allowance}, which does not exist`];
        return names.indexOf(target) < at
          ? []
          : [
              `ARCHITECTURE.md lets ${name} import ${allowance}, which is not in a row above it: cycles could form`,
            ];
      }),
    ),
  ];
};

const importProblems = ({ modules, packages }: Architecture, sources: readonly SourceFile[]): string[] => {
  const problems: string[] = [];
  const used = new Set<string>();
  for (const source of sources) {
    const from = moduleOf(modules, source.path);
    if (from === undefined) {
      problems.push(`${source.path} is in no module of the table in ARCHITECTURE.md`);
      continue;
    }
    for (const { line, target } of importsOf(source)) {
      const place = `${source.path}:${line} imports ${target}`;
      if (/\.tsx?$/.test(target)) {
        const to = moduleOf(modules, target);
        if (to === from) continue;
        const names = [to?.name, nameOf(target), `${nameOf(target)}.ts`];
        const allowance = from.mayImport.find((each) => names.includes(each));
        used.add(`${from.name} ${allowance}`);
        if (allowance === undefined)
          problems.push(
            `${place}: ${from.name} may import ${listed(from.mayImport)}, not ${to?.name ?? 'files of no module'}`,
          );
      } else {
        const rule = packages.find(({ name }) => name === target);
        used.add(`${from.name} ${target}`);
        if (rule === undefined) problems.push(`${place}, which the table of packages does not list`);
        else if (rule.importedBy?.includes(from.name) === false)
          problems.push(`${place}: only ${listed(rule.importedBy)} may`);
      }
    }
  }
  const unused = (name: string, allowance: string): string[] =>
    used.has(`${name} ${allowance}`)
      ? []
      : [`ARCHITECTURE.md lets ${name} import ${allowance}, which it does not do`];
  return [
    ...problems,
    ...modules.flatMap(({ name, mayImport }) => mayImport.flatMap((each) => unused(name, each))),
    ...packages.flatMap(({ name, importedBy = [] }) => importedBy.flatMap((each) => unused(each, name))),
  ];
};

/** The pages have no process; theirs are in examples that they show. */
const environmentProblems = (source: SourceFile): string[] =>
  source.path === 'src/environment.ts' || source.path.startsWith('src/console/web/')
    ? []
    : matches(source.text, environment).map(
        ({ line }) => `${source.path}:${line} uses process.env: only src/environment.ts may`,
      );

const listed = (names: readonly string[]): string => (names.length === 0 ? 'nothing' : names.join(', '));
