/** Records of the audit log: who changed what, and when. */
import Type, { type Static } from 'typebox';
import { listFields, Nullable, Titled } from '../shapes.ts';

const entry = {
  /** Unix milliseconds. */
  time: Type.Integer({ description: 'Unix milliseconds' }),
  who: Type.String({ description: 'Name of the token, or `cli`' }),
  action: Type.String({ description: '`key.update`, `limits.set` and so on' }),
  target: Type.String({ description: 'Id of what was changed' }),
  subscription: Nullable(Type.String({ description: 'Id of the subscription that it concerns' })),
  before: Nullable(Type.Unknown({ description: 'What it was, without secrets' })),
  after: Nullable(Type.Unknown({ description: 'What it became, without secrets' })),
};

/** Kind `audit`, id `audit_…`: never changed, removed when it is old. */
export const AuditRecord = Type.Object(entry);
export type AuditRecord = Static<typeof AuditRecord>;

export const AuditEntry = Titled('AuditEntry', {
  id: Type.String({ description: '`audit_…`' }),
  object: Type.Literal('audit.entry'),
  ...entry,
});
export const AuditList = Titled('AuditList', listFields(AuditEntry));
