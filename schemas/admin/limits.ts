/** Limits of subscriptions in the admin API. */
import Type from 'typebox';
import { LimitChanges } from '../limits.ts';
import { LimitsRecord } from '../records.ts';
import { Closed, listFields, Titled } from '../shapes.ts';

export const AdminLimits = Titled('AdminLimits', {
  id: Type.String({ description: 'That of the subscription' }),
  object: Type.Literal('limits'),
  ...LimitsRecord.properties,
});
export const AdminLimitsList = Titled('AdminLimitsList', listFields(AdminLimits));

export const SetLimits = Closed({
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Absent: all models without numbers of their own',
    }),
  ),
  ...LimitChanges.properties,
});

export const ClearLimitsQuery = Type.Object({
  model: Type.Optional(Type.String({ description: 'Only those for this model' })),
});
