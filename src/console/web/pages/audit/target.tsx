/** What a change was made to: its id, as a link where it has a page. */
import { linkTo } from '../../router.ts';

const pages: readonly (readonly [form: RegExp, segments: readonly string[]])[] = [
  [/^key_/, ['keys']],
  [/^sub_/, ['keys', 'subscriptions']],
  [/^(video|music)_[^-]+-/, ['jobs', 'deliveries']],
  [/^(video|music)_/, ['jobs']],
];

/** Undefined: it has no page. */
const linkToTarget = (target: string): string | undefined => {
  const page = pages.find(([form]) => form.test(target));
  return page === undefined ? undefined : linkTo([...page[1], target]);
};

export const Target = ({ id }: { readonly id: string }) => {
  const link = linkToTarget(id);
  return link === undefined ? <span class="mono">{id}</span> : <a href={link}>{id}</a>;
};
