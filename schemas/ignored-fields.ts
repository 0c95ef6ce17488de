/** Fields of other services' clients: accepted and ignored. */
import Type from 'typebox';

export const ignoredFields = {
  user: Type.Optional(Type.Unknown()),
  session_id: Type.Optional(Type.Unknown()),
  trace: Type.Optional(Type.Unknown()),
};
