/** Copies a part of a text, for a caller that keeps it: V8 would keep the whole text with a slice. */
export const copied = (text: string): string => Buffer.from(text).toString();
