/** Reads the encoding that a page or an XML document declares in its first bytes. */

const declarations = [
  /<meta[^>]{0,200}charset=["']?([\w-]{1,40})/i,
  /^<\?xml[^>]{0,200}encoding=["']([\w-]{1,40})/i,
];

/** A label of `TextDecoder`. A text that is not UTF-8 does not become it by declaring so. */
export const declaredEncoding = (head: Buffer): string | undefined => {
  const text = head.toString('latin1');
  for (const declaration of declarations) {
    const label = labelOf(declaration.exec(text)?.[1]);
    if (label !== undefined && !label.startsWith('utf-')) return label;
  }
  return undefined;
};

const labelOf = (name: string | undefined): string | undefined => {
  try {
    return name === undefined ? undefined : new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
};
