/** Where keys and subscriptions are shown. */
import { linkTo } from '../../router.ts';

export const linkToKey = (id: string): string => linkTo(['keys', id]);
export const linkToSubscription = (id: string): string => linkTo(['keys', 'subscriptions', id]);
