/** Subscriptions in the admin API. */
import Type from 'typebox';
import { SubscriptionRecord } from '../records.ts';
import { Closed, listFields, Titled } from '../shapes.ts';

export const AdminSubscription = Titled('AdminSubscription', {
  object: Type.Literal('subscription'),
  ...SubscriptionRecord.properties,
});
export const AdminSubscriptionList = Titled('AdminSubscriptionList', listFields(AdminSubscription));

export const NewSubscription = Closed({
  name: Type.String({ minLength: 1, maxLength: 100, description: 'For people' }),
});
