/** Records of tokens of the admin API in the State port. */
import Type, { type Static } from 'typebox';

/** Kind `admin-token`, id: SHA-256 of the token in hex. */
export const AdminTokenRecord = Type.Object({
  /** Who changed something, in the audit log. */
  name: Type.String(),
  /** Unix seconds. */
  created: Type.Integer(),
  display: Type.String(),
});
export type AdminTokenRecord = Static<typeof AdminTokenRecord>;
