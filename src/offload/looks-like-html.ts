/** Tells HTML from other text by its beginning. */

/** The name decides only where the bytes leave it open: a fragment without the tags every page begins with. */
export const looksLikeHtml = (text: string, filename: string): boolean => {
  const start = text.slice(0, 2048).replace(/^(?:\s+|<\?xml[^>]{0,200}\?>|<!--[\s\S]{0,2000}?-->)+/, '');
  if (/^<(?:!doctype\s+html|html|head|body)\b/i.test(start)) return true;
  return /\.x?html?$/i.test(filename) && start.startsWith('<');
};
