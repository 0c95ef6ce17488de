/** Small PDFs, ZIP archives and DOCX files for tests. */
import { deflateRawSync } from 'node:zlib';

/** One page for each content stream; `trailer` adds entries such as `/Encrypt`. The font is object 3, `more` come last. */
export const pdf = (
  streams: readonly (string | Buffer)[],
  trailer = '',
  streamEntries = '',
  font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  more: readonly string[] = [],
): Buffer => {
  const pageIds = streams.map((_, index) => 4 + index * 2);
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pageIds.map((id) => `${id} 0 R`).join(' ')}] /Count ${streams.length} >>`,
    font,
  ];
  for (const [index, content] of streams.entries()) {
    const bytes = Buffer.from(content);
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      Buffer.concat([
        Buffer.from(`<< /Length ${bytes.length} ${streamEntries} >>\nstream\n`),
        bytes,
        Buffer.from('\nendstream'),
      ]),
    );
  }
  objects.push(...more);
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = 9;
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(object),
      Buffer.from('\nendobj\n'),
    ]);
    offsets.push(length);
    parts.push(part);
    length += part.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${table}`),
    Buffer.from(`trailer << /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF`),
  );
  return Buffer.concat(parts);
};

/** Lines of text as a content stream. */
export const shown = (...lines: readonly string[]): string =>
  `BT /F1 12 Tf 20 250 Td ${lines.map((line) => `(${line}) Tj 0 -20 Td`).join(' ')} ET`;

export interface CidFont {
  /** A predefined character map. */
  readonly encoding: string;
  /** The collection of characters, such as `Japan1`. */
  readonly ordering: string;
  /** Unicode characters by two-byte code. */
  readonly toUnicode?: Readonly<Record<string, string>>;
}

/** One page of text in codes of two bytes, in a font that is not embedded. */
export const cidPdf = (codes: Buffer, { encoding, ordering, toUnicode }: CidFont): Buffer => {
  const content = `BT /F1 12 Tf 20 250 Td <${codes.toString('hex')}> Tj ET`;
  const info = `<< /Registry (Adobe) /Ordering (${ordering}) /Supplement 0 >>`;
  const descendant = `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Song /CIDSystemInfo ${info} /FontDescriptor << /Type /FontDescriptor /FontName /Song /Flags 4 >> >>`;
  const mapped = toUnicode === undefined ? '' : '/ToUnicode 6 0 R';
  const font = `<< /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding /${encoding} ${mapped} /DescendantFonts [${descendant}] >>`;
  return pdf([content], '', '', font, toUnicode === undefined ? [] : [unicodeMap(toUnicode)]);
};

const unicodeMap = (characters: Readonly<Record<string, string>>): string => {
  const lines = Object.entries(characters).map(
    ([code, character]) => `<${code}> <${Buffer.from(character, 'utf16le').swap16().toString('hex')}>`,
  );
  const map = `begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange ${lines.length} beginbfchar ${lines.join(' ')} endbfchar endcmap`;
  return `<< /Length ${map.length} >>\nstream\n${map}\nendstream`;
};

export interface ZipOptions {
  readonly store?: boolean;
  readonly flags?: number;
  readonly method?: number;
  /** What the headers say of the unpacked length, in place of the truth. */
  readonly claimedLength?: number;
}

export const zip = (files: Readonly<Record<string, string | Buffer>>, options: ZipOptions = {}): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const packed = options.store ? bytes : deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(options.flags ?? 0, 2);
    common.writeUInt16LE(options.method ?? (options.store ? 0 : 8), 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(options.claimedLength ?? bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, place, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end]);
};

export const docx = (
  body: string,
  more: Readonly<Record<string, string>> = {},
  options?: ZipOptions,
): Buffer =>
  zip(
    {
      '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
      'word/document.xml': `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
      ...more,
    },
    options,
  );

export const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

const crc32 = (bytes: Buffer): number => {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
};
