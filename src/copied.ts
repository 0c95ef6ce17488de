/** Copies a part of a text, for who keeps it: V8 would keep the whole text with it. */
export const copied = (text: string): string => Buffer.from(text).toString();
