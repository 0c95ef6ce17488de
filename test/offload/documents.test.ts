/** Tests text extraction from documents of every kind, valid and broken. */
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { ApiError } from '../../src/errors.ts';
import type { DocumentBounds } from '../../src/offload/document-bounds.ts';
import { documentText } from '../../src/offload/document-text.ts';
import { cidPdf, docx, paragraph, pdf, shown, zip } from './sample-documents.ts';
import { encodeAs } from './sample-languages.ts';

const bounds: DocumentBounds = { maxPages: 3, maxExpanded: 200_000, maxCharacters: 50_000, maxDepth: 1000 };

const read = (bytes: Buffer, filename = 'file', more: Partial<DocumentBounds> = {}): Promise<string> =>
  documentText(bytes, filename, { ...bounds, ...more });

/** The text, or `kind: message`. */
const outcome = (bytes: Buffer, filename?: string, more?: Partial<DocumentBounds>): Promise<string> =>
  read(bytes, filename, more).catch((reason: unknown) =>
    reason instanceof ApiError ? `${reason.kind}: ${reason.message}` : Promise.reject(reason),
  );

const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

t.test('plain text, whatever its encoding', async (t) => {
  const cases: readonly [string, Buffer, string][] = [
    ['UTF-8', Buffer.from('naïve ☕ 日本'), 'naïve ☕ 日本'],
    ['UTF-8 with a mark', Buffer.from('\ufeffmarked'), 'marked'],
    ['UTF-16 little-endian', Buffer.concat([latin1('\xff\xfe'), Buffer.from('né ☕', 'utf16le')]), 'né ☕'],
    ['UTF-16 big-endian', Buffer.concat([latin1('\xfe\xff'), utf16be('né ☕')]), 'né ☕'],
    ['UTF-16 without a mark', Buffer.from('abc', 'utf16le'), 'abc'],
    ['Latin-1', latin1('caf\xe9 \x93quoted\x94'), 'café “quoted”'],
    ['Markdown', Buffer.from('# Title\r\n\r\n* a <b>tag</b>\n'), '# Title\r\n\r\n* a <b>tag</b>\n'],
    ['CSV', Buffer.from('a,b\n"1,5",2\n'), 'a,b\n"1,5",2\n'],
    ['JSON', Buffer.from('{"html": "<html>"}'), '{"html": "<html>"}'],
    ['prose about PDF', Buffer.from('A file begins with %PDF-1.7.'), 'A file begins with %PDF-1.7.'],
    ['text that begins like a picture', Buffer.from('GIF89a is a format'), 'GIF89a is a format'],
  ];
  for (const [name, bytes, text] of cases) t.equal(await outcome(bytes, 'misleading.pdf'), text, name);
});

t.test('documents without text', async (t) => {
  const cases: readonly [string, Buffer, string][] = [
    ['empty', Buffer.alloc(0), 'the document is empty'],
    ['blank', Buffer.from(' \n\t\n'), 'the document holds no text'],
    ['binary', latin1('\x01\x02\x03\xfe\x80'), 'the document is not a PDF, a DOCX or text'],
    ['zeros', Buffer.alloc(100), 'the document is not a PDF, a DOCX or text'],
    ['UTF-32', Buffer.from('fffe000061000000', 'hex'), 'the document is not a PDF, a DOCX or text'],
    ['a picture', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'the document is image/png, which holds no text'],
    ['sound', latin1('ID3\x04\0\0\0\0\0\0\xff\xfb'), 'the document is audio/mpeg, which holds no text'],
    [
      'an old or encrypted Office file',
      latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest'),
      'the document is encrypted or in an old Office format; send it as PDF or as an open DOCX',
    ],
    ['RTF', Buffer.from('{\\rtf1 x}'), 'RTF documents are not supported; send PDF, DOCX or plain text'],
    ['too long', Buffer.from('x'.repeat(50_001)), 'the document holds more than 50000 characters of text'],
  ];
  for (const [name, bytes, message] of cases) {
    t.equal(await outcome(bytes, 'letter.txt'), `invalid_request: ${message}`, name);
  }
});

t.test('HTML', async (t) => {
  const page = `<!-- note --><!DOCTYPE html><html><head><title>News &amp; more</title>
    <style>p { color: red }</style><script>if (a < b) alert("</p>")</script></head>
    <body><h1>One</h1><p>two <b>bold</b>   words&nbsp;&#x2615;<br>next<div hidden>x</div>
    <ul><li>first<li>second</ul><table><tr><th>a<th>b<tr><td>1<td>2</table>
    <pre>  kept\n    as is</pre><a title="a > b">link</a><noscript>no</noscript><svg><text>no</text></svg></body>`;
  t.equal(
    await outcome(Buffer.from(page)),
    [
      'News & more',
      'One',
      'two bold words ☕',
      'next',
      'x',
      '- first',
      '- second',
      'a\tb',
      '1\t2',
      '  kept',
      '    as is',
      'link',
    ].join('\n'),
  );
  t.equal(await outcome(Buffer.from('<p>part</p>'), 'part.HTML'), 'part', 'a fragment by its name');
  t.equal(await outcome(Buffer.from('<p>part</p>'), 'part.md'), '<p>part</p>');
  t.equal(
    await outcome(latin1('<html><meta charset="shift_jis"><p>\x93\xfa\x96{</html>')),
    '日本',
    'in the encoding it declares',
  );
  t.equal(
    await outcome(Buffer.from('<html><script>only()</script>')),
    'invalid_request: the document holds no text',
  );
  t.match(await outcome(Buffer.from(`<html>${'<b>x</b>'.repeat(60_000)}`)), /more than 50000 characters/);
  t.match(await outcome(Buffer.from(`<html>${'<b>x'.repeat(60_000)}`)), /nested more than 1000 levels deep/);
});

t.test('PDF', async (t) => {
  t.equal(
    await outcome(pdf([shown('Hello, world.', 'A second line'), shown('Page two')])),
    'Hello, world.\nA second line\n\nPage two',
  );
  t.equal(await outcome(Buffer.concat([latin1('\xff\x00junk\n'), pdf([shown('After junk')])])), 'After junk');
  const packed = deflateSync(Buffer.from(shown('Packed')));
  t.equal(await outcome(pdf([packed], '', '/Filter /FlateDecode')), 'Packed');
  const encrypt = `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}> >>`;
  const cases: readonly [Buffer, string][] = [
    [pdf(['0 0 100 100 re f']), 'the PDF holds no text; its pages may be scanned pictures'],
    [pdf([shown('secret')], encrypt), 'the PDF is encrypted and needs a password'],
    [Buffer.from('%PDF-1.7\nnothing more'), 'the PDF is damaged and cannot be read'],
    [pdf([shown('a'), shown('b'), shown('c'), shown('d')]), 'the PDF has 4 pages, more than the limit of 3'],
  ];
  for (const [bytes, message] of cases) t.equal(await outcome(bytes), `invalid_request: ${message}`);
  t.match(
    await outcome(pdf([shown('many letters')]), 'x.pdf', { maxCharacters: 5 }),
    /more than 5 characters/,
  );
});

t.test('PDF in Chinese, Japanese and Korean', async (t) => {
  const cases: readonly [encoding: string, ordering: string, codes: Buffer, text: string][] = [
    ['UniGB-UCS2-H', 'GB1', utf16be('水闸打开'), '水闸打开'],
    ['GBK-EUC-H', 'GB1', encodeAs('gbk', '水闸打开'), '水闸打开'],
    ['UniCNS-UTF16-H', 'CNS1', utf16be('水閘打開'), '水閘打開'],
    ['ETen-B5-H', 'CNS1', encodeAs('big5', '水閘打開'), '水閘打開'],
    ['UniJIS-UTF16-H', 'Japan1', utf16be('水門が開く'), '水門が開く'],
    ['90ms-RKSJ-H', 'Japan1', encodeAs('shift_jis', '水門が開く'), '水門が開く'],
    ['EUC-H', 'Japan1', encodeAs('euc-jp', '水門が開く'), '水門が開く'],
    ['UniKS-UTF16-H', 'Korea1', utf16be('수문이 열린다'), '수문이 열린다'],
    ['KSCms-UHC-H', 'Korea1', encodeAs('euc-kr', '수문이 열린다'), '수문이 열린다'],
    // Numbers of the collection itself.
    ['Identity-H', 'Japan1', Buffer.from('034b03e8', 'hex'), 'あレ'],
  ];
  for (const [encoding, ordering, codes, text] of cases)
    t.equal(await outcome(cidPdf(codes, { encoding, ordering })), text, encoding);
  t.equal(
    await outcome(
      cidPdf(Buffer.from('00010002', 'hex'), {
        encoding: 'Identity-H',
        ordering: 'Identity',
        toUnicode: { '0001': '水', '0002': '門' },
      }),
    ),
    '水門',
    'with a map of its own',
  );
  t.equal(
    await outcome(cidPdf(utf16be('水'), { encoding: '..#2F..#2F..#2Fpackage', ordering: 'GB1' })),
    'invalid_request: the PDF holds no text; its pages may be scanned pictures',
    'a map that does not exist',
  );
});

t.test('DOCX', async (t) => {
  const body = `${paragraph('First &amp; last')}
    <w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/><w:t xml:space="preserve"> b</w:t><w:br/><w:t>c</w:t></w:r>
    <w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>
    <w:tbl><w:tr><w:tc>${paragraph('1')}</w:tc><w:tc>${paragraph('2')}</w:tc></w:tr><w:tr><w:tc>${paragraph('3')}</w:tc><w:tc>${paragraph('')}</w:tc></w:tr></w:tbl>
    <mc:AlternateContent><mc:Choice>${paragraph('box')}</mc:Choice><mc:Fallback>${paragraph('box')}</mc:Fallback></mc:AlternateContent>`;
  const text = 'First & last\n\na\t b\ncnew\n\n1\t2\n3\n\nbox';
  t.equal(await outcome(docx(body)), text);
  t.equal(await outcome(docx(body, {}, { store: true })), text, 'not packed');
  t.equal(
    await outcome(
      docx(paragraph('body'), { 'word/footnotes.xml': `<w:footnotes>${paragraph('note')}</w:footnotes>` }),
    ),
    'body\n\nnote',
  );
  t.equal(await outcome(zip({ 'word/document2.xml': paragraph('other name') })), 'other name');
  const damaged = 'invalid_request: the DOCX is damaged and cannot be read';
  const whole = docx(paragraph('whole'));
  const cases: readonly [string, Buffer, string][] = [
    [
      'a spreadsheet',
      zip({ 'xl/workbook.xml': '<x/>' }),
      'invalid_request: the document is a ZIP archive, but not a DOCX',
    ],
    ['no text', docx(paragraph('')), 'invalid_request: the document holds no text'],
    ['cut off', whole.subarray(0, whole.length - 30), damaged],
    ['encrypted', docx(paragraph('x'), {}, { flags: 1 }), damaged],
    ['unknown packing', docx(paragraph('x'), {}, { method: 12 }), damaged],
    [
      'a bomb that lies about its size',
      docx(paragraph('x'.repeat(2_000_000)), {}, { claimedLength: 10 }),
      'invalid_request: the DOCX unpacks to more than 200000 bytes',
    ],
    [
      'too long',
      docx(paragraph('x'.repeat(50_001))),
      'invalid_request: the document holds more than 50000 characters of text',
    ],
  ];
  for (const [name, bytes, expected] of cases) t.equal(await outcome(bytes), expected, name);
});

t.test('any corruption gives text or a client error', async (t) => {
  const samples = [
    docx(paragraph('a document')),
    zip({ 'word/document.xml': paragraph('x') }, { store: true }),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...samples),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
      fc.nat(),
      async (sample, changes, cut) => {
        const bytes = Buffer.from(sample.subarray(0, cut % 4 === 0 ? cut % sample.length : sample.length));
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        await outcome(bytes);
      },
    ),
    { numRuns: 300 },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      await outcome(Buffer.from(bytes), 'page.html');
    }),
  );
  t.pass();
});
