/** Records of the State port: subscriptions, keys and limits. */
import Type, { type Static } from 'typebox';
import { LimitNumbers } from './limits.ts';

/** Suspended ends and resumes; closed is final. */
export const Status = Type.Enum(['active', 'suspended', 'closed']);
export type Status = Static<typeof Status>;

/** Kind `subscription`, id `sub_…`: the account that keys, usage and every other record belong to. */
export const SubscriptionRecord = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Status,
  /** Unix seconds. */
  created: Type.Integer(),
});
export type SubscriptionRecord = Static<typeof SubscriptionRecord>;

/** Kind `key`, id: SHA-256 of the secret in hex, so that a record never reveals its secret. */
export const KeyRecord = Type.Object({
  /** `key_…`: the name it goes by in usage events, logs and commands. */
  id: Type.String(),
  name: Type.String(),
  subscription: Type.String(),
  status: Status,
  /** Unix seconds. */
  created: Type.Integer(),
  /** Enough of the secret to recognise it by: `sk-sluice-…a1B2`. */
  display: Type.String(),
  /** Unix seconds from which on it is refused. */
  expires: Type.Optional(Type.Integer()),
  /** What it may be used for; absent: everything. `*` stands for any characters. */
  models: Type.Optional(Type.Array(Type.String())),
  /** `POST /chat/completions`, `GET *`, `/videos*`. */
  routes: Type.Optional(Type.Array(Type.String())),
  /** Addresses that it may be used from, `10.0.0.0/8`. */
  networks: Type.Optional(Type.Array(Type.String())),
  tags: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** Of its own, beside those of its subscription. */
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
  subscription: Type.String(),
  /** For every model without numbers of its own. */
  all: LimitNumbers,
  /** By id of the model. */
  models: Type.Record(Type.String(), LimitNumbers),
});
export type LimitsRecord = Static<typeof LimitsRecord>;
