/** Every place that has the version of Sluice: read to compare them, written by a release. */
import { readFileSync, writeFileSync } from 'node:fs';

interface Place {
  readonly file: string;
  /** What stands before the version and behind it; each match has to have the same one. */
  readonly pattern: RegExp;
}

const places: readonly Place[] = [
  { file: 'package.json', pattern: /(^ {2}"version": ")([^"]+)(")/m },
  { file: 'package-lock.json', pattern: /(^ {2}"version": ")([^"]+)(")/m },
  { file: 'package-lock.json', pattern: /("packages": \{\s+"": \{[^}]*?"version": ")([^"]+)(")/ },
  { file: 'schemas/openapi.ts', pattern: /(apiVersion = ')([^']+)(')/ },
  { file: 'Dockerfile', pattern: /(^ARG VERSION=)(\S+)()/m },
];

/** Throws when a place is not found: then the pattern is out of date. */
const find = ({ file, pattern }: Place, text: string): string => {
  const version = pattern.exec(text)?.[2];
  if (version === undefined) throw new Error(`${file} has no version that matches ${pattern}`);
  return version;
};

export const readVersions = (): readonly { readonly file: string; readonly version: string }[] =>
  places.map((place) => ({ file: place.file, version: find(place, readFileSync(place.file, 'utf8')) }));

export const writeVersions = (version: string): void => {
  for (const place of places) {
    const text = readFileSync(place.file, 'utf8');
    find(place, text);
    writeFileSync(
      place.file,
      text.replace(place.pattern, (_, before: string, __, after: string) => before + version + after),
    );
  }
};

const semantic = /^(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?$/;

export const isVersion = (text: string): boolean => semantic.test(text);

/** By major, minor and patch; a pre-release counts as its release. */
export const isNewer = (version: string, than: string): boolean => {
  const [ours, theirs] = [version, than].map((text) => (semantic.exec(text) ?? []).slice(1, 4).map(Number));
  const difference = [0, 1, 2].map((part) => (ours?.[part] ?? 0) - (theirs?.[part] ?? 0));
  return (difference.find((part) => part !== 0) ?? 0) > 0;
};
