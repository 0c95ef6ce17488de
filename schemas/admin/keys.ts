/** Keys in the admin API. */
import Type, { type Static } from 'typebox';
import { LimitChanges } from '../limits.ts';
import { KeyRecord } from '../records.ts';
import { Closed, listFields, Nullable, Titled } from '../shapes.ts';

const { id, name, subscription, status, created, display, ...settings } = KeyRecord.properties;

export const AdminKey = Titled('AdminKey', {
  object: Type.Literal('key'),
  ...{ id, name, subscription, status, created, display },
  ...settings,
  last_used: Nullable(Type.Integer({ description: 'Unix seconds, a minute or two late; null: never' })),
  former_secrets: Type.Array(
    Type.Object({
      display,
      expires: Nullable(Type.Integer({ description: 'Unix seconds; null: never' })),
    }),
    {
      description: 'Those that a rotation replaced and that may still work',
    },
  ),
});
export type AdminKey = Static<typeof AdminKey>;
export const AdminKeyList = Titled('AdminKeyList', listFields(AdminKey));

export const NewAdminKey = Titled('NewAdminKey', {
  ...AdminKey.properties,
  secret: Type.String({ description: 'Shown this once: only its hash is kept' }),
});

export const CreateKey = Closed({
  subscription: Type.String({ minLength: 1, description: 'Id, or a name that only one has' }),
  name: Type.Optional(Type.String({ maxLength: 100, description: 'For people' })),
  ...settings,
});

/** Null removes a setting. */
export const UpdateKey = Closed({
  name: Type.Optional(Type.String({ maxLength: 100, description: 'For people' })),
  ...Object.fromEntries(
    Object.entries(settings).map(([field, schema]) => [field, Type.Optional(Nullable(schema))]),
  ),
  limits: Type.Optional(Nullable(LimitChanges)),
});

export const RotateKey = Closed({
  overlap: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 365 * 86_400,
      description: 'Seconds that the former secret still works; a day',
    }),
  ),
});
