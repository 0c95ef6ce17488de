/** What is wrong with a field of a form, before it is sent. */

/** A field that cannot be sent as it is. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
  readonly param: string;

  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}
