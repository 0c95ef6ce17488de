/** A field that names or holds media: an https URL, a data URI or base64. Text to the client; long base64 reaches us as its bytes. */
import Type from 'typebox';

export const MediaText = (description: string) =>
  Type.Unsafe<string | Uint8Array>(
    Type.Refine(
      Type.Unknown({ description }),
      (value) => typeof value === 'string' || value instanceof Uint8Array,
      () => 'must be a string',
    ),
  );
