/** How the replies of several gateway processes become one. */
import type { AdminReply, Combine } from './route.ts';

const isGood = ({ status }: AdminReply): boolean => status < 400;

/** One of them did it: a request runs in one process, and a replica may not be known to all. */
export const anySuccess: Combine = (replies) =>
  pick(replies.find(({ status }) => status >= 500) ?? replies.find(isGood), replies);

/** All of them did it. */
export const everySuccess: Combine = (replies) =>
  pick(
    replies.find((reply) => !isGood(reply)),
    replies,
  );

/** One value of all of theirs; a failure of one is a failure of all. */
export const merging =
  <T>(merge: (values: readonly T[]) => unknown): Combine =>
  (replies) => {
    const first = everySuccess(replies);
    if (!isGood(first)) return first;
    const values = replies.map(({ body }) => JSON.parse(body) as T);
    return { ...first, body: JSON.stringify(merge(values)) };
  };

const pick = (chosen: AdminReply | undefined, [first]: readonly AdminReply[]): AdminReply => {
  const reply = chosen ?? first;
  if (reply === undefined) throw new Error('There are no replies to combine');
  return reply;
};
