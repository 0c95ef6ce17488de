/** Quotes a text as JSON. */

const mayNeedEscape = /[^ !#-[\]-~]/;

/** What stands between the quotes. Looking first costs less than half of `JSON.stringify`, and most names and prompts need nothing more. */
export const escaped = (text: string): string =>
  mayNeedEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text;

export const quoted = (text: string): string =>
  mayNeedEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
