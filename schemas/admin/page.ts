/** Query parameters that lists of the admin API share. */
import Type, { type TProperties } from 'typebox';

export const PageQuery = <Fields extends TProperties>(fields: Fields) =>
  Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries of a page' }),
    ),
    order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'By creation; `desc`' })),
    after: Type.Optional(Type.String({ description: 'Id of the last entry of the page before' })),
    before: Type.Optional(Type.String({ description: 'Id of the first entry of the page after' })),
    ...fields,
  });

export const ofSubscription = {
  subscription: Type.Optional(Type.String({ description: 'Only those of this subscription, by id' })),
};

/** What every change of a record with an `ETag` takes. */
export const ifMatch = Type.Object({
  'If-Match': Type.Optional(Type.String({ description: '`ETag` of the record; 412 if it has changed' })),
});
