/** Finds what the built site links to and does not have: pages, anchors, images, scripts and copied files. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

/** HTML by its path from the root of the site. */
export type Site = ReadonlyMap<string, string>;

export const readSite = (folder: string): Site =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.html'))
      .map((name) => [name.split('\\').join('/'), readFileSync(join(folder, name), 'utf8')]),
  );

const decoded = (text: string): string =>
  decodeURIComponent(text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"'));

const idsOf = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => decoded(id)));

/** The file behind an address, as a static server finds it. */
const fileOf = (address: string): string => {
  const path = address.replace(/^\//, '');
  return path === '' || path.endsWith('/') ? `${path}index.html` : path;
};

export interface Problems {
  readonly links: number;
  readonly dead: readonly string[];
  /** Of other hosts that a page loads something from. */
  readonly foreign: readonly string[];
}

export const checkSite = (site: Site, exists: (file: string) => boolean): Problems => {
  const ids = new Map([...site].map(([name, html]) => [name, idsOf(html)]));
  const dead = new Set<string>();
  const foreign = new Set<string>();
  let links = 0;
  for (const [name, html] of site)
    for (const [tag, href = ''] of html.matchAll(
      /<(?:a|img|script|link|source|video)\b[^>]*?\s(?:href|src|srcset)="([^"]*)"/g,
    )) {
      links++;
      const isLoaded = !tag.startsWith('<a') && !/rel="(?:canonical|alternate)"/.test(tag);
      if (/^(?:https?:)?\/\//.test(href) && isLoaded) foreign.add(`${name}: ${href}`);
      if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(href) || href === '') continue;
      const [path = '', anchor = ''] = decoded(href.replace(/\?.*?(?=#|$)/, '')).split('#');
      const target =
        path === '' ? name : fileOf(posix.join('/', path.startsWith('/') ? '' : posix.dirname(name), path));
      const known = ids.get(target);
      if (known === undefined && !exists(target)) dead.add(`${name}: ${href}`);
      else if (anchor !== '' && known !== undefined && !known.has(anchor))
        dead.add(`${name}: ${href} (no such heading)`);
    }
  return { links, dead: [...dead], foreign: [...foreign] };
};

export const fileExists =
  (folder: string) =>
  (file: string): boolean =>
    existsSync(join(folder, file)) && statSync(join(folder, file)).isFile();
