/** A value that names its type in; the server-sent event that carries it, under that name, out. */

export const sseEvent = (value: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
