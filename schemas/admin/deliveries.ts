/** Webhook deliveries in the admin API: without their bodies. */
import Type, { type Static } from 'typebox';
import { listFields, Titled } from '../shapes.ts';
import { DeliveryRecord } from '../webhooks.ts';

const { body: _, claim: __, ...fields } = DeliveryRecord.properties;

export const AdminDelivery = Titled('AdminDelivery', {
  id: Type.String({ description: 'Of the job and its end: the idempotency key that receivers get' }),
  object: Type.Literal('delivery'),
  ...fields,
});
export type AdminDelivery = Static<typeof AdminDelivery>;
export const AdminDeliveryList = Titled('AdminDeliveryList', listFields(AdminDelivery));
