/** Fields that clients of other services send along: taken and ignored, whatever they are. */
import Type from 'typebox';

export const ignoredFields = {
  user: Type.Optional(Type.Unknown()),
  session_id: Type.Optional(Type.Unknown()),
  trace: Type.Optional(Type.Unknown()),
};
