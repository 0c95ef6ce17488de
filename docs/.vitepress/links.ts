/** Leads links between files of the repository to where the site has them, and names headings as code hosts do. */
import { posix } from 'node:path';
import { addressOf } from './pages.ts';

/** Files of the repository that are not pages are copied below this folder of the site. */
export const filesFolder = 'files';

/** An anchor without its number: letters, digits, `-` and `_` of the heading in lower case. */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

/** Addresses of other hosts, of this page, and of the site itself. */
export const isElsewhere = (href: string): boolean => /^(?:[a-z][a-z\d+.-]*:|#|\/)/i.test(href);

/** The file of the repository that a relative link in `from` means. */
export const targetOf = (from: string, href: string): { readonly file: string; readonly anchor: string } => {
  const [path = '', ...anchor] = href.split('#');
  const file = posix.normalize(posix.join(posix.dirname(from), decodeURIComponent(path)));
  return { file, anchor: anchor.length === 0 ? '' : `#${anchor.join('#')}` };
};

export interface SiteLink {
  /** From the root of the site. */
  readonly href: string;
  /** The file that has to be copied there. */
  readonly copied?: string;
}

export const siteLink = (from: string, href: string): SiteLink => {
  if (isElsewhere(href)) return { href };
  const { file, anchor } = targetOf(from, href);
  const address = addressOf(file);
  return address === undefined
    ? { href: `/${filesFolder}/${file}`, copied: file }
    : { href: `/${address}${anchor}` };
};
