/** Extracts the text of a PDF, pages separated by empty lines. */
import { getDocumentProxy } from 'unpdf';
import { checkLength, type DocumentBounds, unreadable } from './document-bounds.ts';
import { pdfMaps } from './pdf-maps.ts';

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** A run of text; other items mark its structure and have none. */
interface TextItem {
  readonly str?: string;
  readonly hasEOL?: boolean;
}

/** Says nothing on the console, draws nothing, runs nothing. Text needs the maps of characters, but no fonts. */
const options = {
  verbosity: 0,
  isEvalSupported: false,
  disableFontFace: true,
  useSystemFonts: false,
  ...pdfMaps,
};

export const pdfText = async (bytes: Buffer, bounds: DocumentBounds): Promise<string> => {
  const pdf = await open(bytes);
  try {
    return await textOf(pdf, bounds);
  } finally {
    await pdf.destroy();
  }
};

const textOf = async (pdf: Pdf, bounds: DocumentBounds): Promise<string> => {
  if (pdf.numPages > bounds.maxPages) {
    throw unreadable(`the PDF has ${pdf.numPages} pages, more than the limit of ${bounds.maxPages}`);
  }
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    const text = await pageText(pdf, number);
    length += text.length;
    checkLength(length, bounds);
    if (text !== '') pages.push(text);
  }
  if (length === 0) throw unreadable('the PDF holds no text; its pages may be scanned pictures');
  return pages.join('\n\n');
};

/** The reader takes the bytes over, so it gets a copy of a buffer that others see. */
const open = async (bytes: Buffer): Promise<Pdf> => {
  try {
    return await getDocumentProxy(new Uint8Array(bytes), options);
  } catch (reason) {
    if (reason instanceof Error && reason.name === 'PasswordException') {
      throw unreadable('the PDF is encrypted and needs a password');
    }
    throw reason;
  }
};

const pageText = async (pdf: Pdf, number: number): Promise<string> => {
  const page = await pdf.getPage(number);
  const content: { readonly items: readonly TextItem[] } = await page.getTextContent();
  page.cleanup();
  return content.items
    .map(({ str = '', hasEOL = false }) => (hasEOL ? `${str}\n` : str))
    .join('')
    .trim();
};
