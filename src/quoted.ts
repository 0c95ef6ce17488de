/** A text in; the same as JSON has it, in quotes, out. */

const mayNeedEscape = /[^ !#-[\]-~]/;

/** Looking first costs less than half of `JSON.stringify`, and most names, numbers and prompts need nothing more. */
export const quoted = (text: string): string =>
  mayNeedEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
