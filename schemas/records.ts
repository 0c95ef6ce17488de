/** Records of the State port: subscriptions, keys and limits. */
import Type, { type Static } from 'typebox';
import { LimitNumbers } from './limits.ts';

/** Suspended ends and resumes; closed is final. */
export const Status = Type.Enum(['active', 'suspended', 'closed'], {
  description: '`suspended`: refused until it is resumed; `closed` is final',
});
export type Status = Static<typeof Status>;

/** Kind `subscription`, id `sub_…`: the account that keys, usage and every other record belong to. */
export const SubscriptionRecord = Type.Object({
  id: Type.String({ description: '`sub_…`' }),
  name: Type.String({ description: 'For people' }),
  status: Status,
  created: Type.Integer({ description: 'Unix seconds' }),
});
export type SubscriptionRecord = Static<typeof SubscriptionRecord>;

/** Kind `key`, id: SHA-256 of the secret in hex, so that a record never reveals its secret. */
export const KeyRecord = Type.Object({
  id: Type.String({ description: '`key_…`: the name it goes by in usage events, logs and commands' }),
  name: Type.String({ description: 'For people' }),
  subscription: Type.String({ description: 'Id of the subscription that it belongs to' }),
  status: Status,
  created: Type.Integer({ description: 'Unix seconds' }),
  display: Type.String({ description: 'Enough of the secret to recognise it by: `sk-sluice-…a1B2`' }),
  expires: Type.Optional(Type.Integer({ description: 'Unix seconds from which on it is refused' })),
  models: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Models that it may be used for; absent: all. `*` stands for any characters',
    }),
  ),
  routes: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Routes that it may be used for: `POST /chat/completions`, `GET *`, `/videos*`; absent: all',
    }),
  ),
  networks: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Addresses that it may be used from: `10.0.0.0/8`; absent: all',
    }),
  ),
  tags: Type.Optional(Type.Array(Type.String(), { description: 'Words that budgets can be made by' })),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Notes of the operator' }),
  ),
  limits: Type.Optional(LimitNumbers),
});
export type KeyRecord = Static<typeof KeyRecord>;

/** Kind `key-use`, id: that of the key. */
export const KeyUseRecord = Type.Object({
  /** Unix seconds, a minute or two late. */
  last: Type.Integer(),
});
export type KeyUseRecord = Static<typeof KeyUseRecord>;

/** Kind `signing-key`: what this installation signs with, by the purpose that is its id; made at first use. */
export const SigningKeyRecord = Type.Object({
  /** Base64. */
  key: Type.String(),
});
export type SigningKeyRecord = Static<typeof SigningKeyRecord>;

/** Kind `limits`, id: the subscription they are for. */
export const LimitsRecord = Type.Object({
  subscription: Type.String({ description: 'Id of the subscription that they are for' }),
  /** For every model without numbers of its own. */
  all: LimitNumbers,
  models: Type.Record(Type.String(), LimitNumbers, {
    description: 'By id of the model; `all` is for those without numbers of their own',
  }),
});
export type LimitsRecord = Static<typeof LimitsRecord>;
