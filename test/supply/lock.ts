/** Reads the packages of package-lock.json and who depends on whom. */
import { readFileSync } from 'node:fs';

export interface Package {
  /** Where it is installed, `node_modules/a/node_modules/b`. */
  readonly place: string;
  readonly name: string;
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  /** Tests and tools only. */
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  /** May be missing: mostly a binary for one platform. */
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, Omit<Package, 'place'>>>;
}

/** Of the project that tests are run in. */
export const readPackages = (): ReadonlyMap<string, Package> => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  return new Map(
    Object.entries(packages)
      .filter(([place]) => place !== '')
      .map(([place, found]) => [place, { ...found, place, name: place.replace(/^.*node_modules\//, '') }]),
  );
};

export const isRuntime = ({ dev, devOptional }: Package): boolean => dev !== true && devOptional !== true;

/** The package that `name` means to the one at `place`: the nearest on the way up, as Node looks for it. */
const nearest = (
  packages: ReadonlyMap<string, Package>,
  place: string,
  name: string,
): Package | undefined => {
  for (let from = place; ; from = from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1))) {
    const found = packages.get(from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`);
    if (found !== undefined || from === '') return found;
  }
};

/** All that comes with a package, itself left out. */
export const broughtBy = (packages: ReadonlyMap<string, Package>, root: Package): ReadonlySet<Package> => {
  const found = new Set<Package>();
  const waiting = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const name of Object.keys({
      ...next.dependencies,
      ...next.optionalDependencies,
      ...next.peerDependencies,
    })) {
      // Installed only where something else needs it.
      if (next.peerDependenciesMeta?.[name]?.optional === true) continue;
      const one = nearest(packages, next.place, name);
      if (one === undefined || one === root || found.has(one)) continue;
      found.add(one);
      waiting.push(one);
    }
  return found;
};
