/** HTTP/1.1 responses, valid and malformed, with the expected result of each. */

export interface Answer {
  readonly name: string;
  readonly raw: string;
  readonly status?: number;
  readonly body?: string;
  /** What is wrong with it. */
  readonly fault?: string;
  /** The other side closes afterwards, as it must for some answers to end. */
  readonly closed?: boolean;
  readonly cut?: boolean;
  readonly excess?: boolean;
  readonly kept?: boolean;
  /** undici takes it otherwise. */
  readonly ours?: boolean;
}

export const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
export const lines = (count: number, text = 'a: b\r\n'): string => text.repeat(count);

export const answers: readonly Answer[] = [
  { name: 'a length', raw: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello', body: 'Hello' },
  { name: 'no reason', raw: 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok', body: 'ok' },
  { name: 'an empty reason', raw: 'HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok', body: 'ok' },
  { name: 'length 0', raw: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' },
  {
    name: 'a blank around a value',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: \t 2 \t\r\n\r\nok',
    body: 'ok',
    ours: true,
  },
  { name: 'no blank at all', raw: 'HTTP/1.1 200 OK\r\ncontent-length:2\r\nx:\r\n\r\nok', body: 'ok' },
  { name: '204', raw: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204 },
  { name: '304 with a length', raw: 'HTTP/1.1 304 X\r\ncontent-length: 5\r\n\r\n', status: 304, ours: true },
  { name: '529', raw: 'HTTP/1.1 529 Busy\r\ncontent-length: 2\r\n\r\n{}', status: 529, body: '{}' },
  { name: 'chunks', raw: `${chunked}5\r\nHello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n`, body: 'Hello world' },
  { name: 'no chunks', raw: `${chunked}0\r\n\r\n` },
  { name: 'long sizes', raw: `${chunked}00000A\r\n0123456789\r\n000\r\n\r\n`, body: '0123456789' },
  {
    name: 'a chunk that looks like an end',
    raw: `${chunked}7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n`,
    body: '\r\n0\r\n\r\n',
  },
  {
    name: 'extensions',
    raw: `${chunked}2;a=b;c="d e"\r\nHe\r\n3;x\r\nllo\r\n0;last\r\n\r\n`,
    body: 'Hello',
  },
  { name: 'trailers', raw: `${chunked}2\r\nok\r\n0\r\nx-sum: 1\r\ny: z\r\n\r\n`, body: 'ok' },
  {
    name: 'a coding in capitals',
    raw: 'HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    body: 'ok',
  },
  {
    name: 'early hints',
    raw: 'HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    body: 'ok',
  },
  {
    name: 'interim answers',
    ours: true,
    raw: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    body: 'ok',
  },
  { name: 'until the end', raw: 'HTTP/1.1 200 OK\r\n\r\nHello', body: 'Hello', closed: true, kept: false },
  { name: 'HTTP/1.0', raw: 'HTTP/1.0 200 OK\r\n\r\nHello', body: 'Hello', closed: true, kept: false },
  {
    name: 'HTTP/1.0 with a length',
    raw: 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok',
    body: 'ok',
    kept: false,
  },
  {
    name: 'HTTP/1.0, kept',
    raw: 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok',
    body: 'ok',
  },
  {
    name: 'connection: close',
    raw: 'HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 2\r\n\r\nok',
    body: 'ok',
    kept: false,
  },
  {
    name: 'one length twice',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nContent-Length: 2\r\n\r\nok',
    body: 'ok',
    ours: true,
  },
  { name: '190 headers', raw: `HTTP/1.1 200 OK\r\n${lines(190)}content-length: 2\r\n\r\nok`, body: 'ok' },
  {
    name: 'bytes above 127 in a header',
    raw: 'HTTP/1.1 200 Gr\xfc\xdfe\r\nx: \xe9\r\ncontent-length: 2\r\n\r\nok',
    body: 'ok',
  },
  {
    name: 'garbage after the end',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad',
    body: 'ok',
    excess: true,
    kept: false,
    ours: true,
  },
  { name: 'garbage after chunks', raw: `${chunked}0\r\n\r\nX`, excess: true, kept: false, ours: true },

  {
    name: 'a body cut short',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nHel',
    body: 'Hel',
    cut: true,
  },
  { name: 'chunks cut short', raw: `${chunked}5\r\nHel`, body: 'Hel', cut: true },
  { name: 'no last chunk', raw: `${chunked}3\r\nHel\r\n`, body: 'Hel', cut: true },
  { name: 'no end of trailers', raw: `${chunked}3\r\nHel\r\n0\r\n`, body: 'Hel', cut: true },
  { name: 'a head cut short', raw: 'HTTP/1.1 200 OK\r\nco', status: 0, cut: true },
  { name: 'only an interim answer', raw: 'HTTP/1.1 100 Continue\r\n\r\n', status: 0, cut: true },

  { name: 'no HTTP', raw: 'SSH-2.0-x\r\n', status: 0, fault: 'a status line that is none' },
  {
    name: 'HTTP/2',
    raw: 'HTTP/2.0 200 OK\r\n\r\n',
    status: 0,
    ours: true,
    fault: 'a status line that is none',
  },
  {
    name: 'an empty line first',
    raw: '\r\nHTTP/1.1 200 OK\r\n\r\n',
    status: 0,
    fault: 'a status line that is none',
    ours: true,
  },
  { name: 'two digits', raw: 'HTTP/1.1 20 OK\r\n\r\n', status: 0, fault: 'a status line that is none' },
  {
    name: 'a lone line feed',
    raw: 'HTTP/1.1 200 OK\ncontent-length: 0\r\n\r\n',
    status: 0,
    fault: 'a line without its end',
  },
  {
    name: 'another protocol',
    raw: 'HTTP/1.1 101 X\r\nupgrade: x\r\n\r\n',
    status: 0,
    fault: 'another protocol',
  },
  {
    name: 'a header without a colon',
    raw: 'HTTP/1.1 200 OK\r\nx\r\n\r\n',
    status: 0,
    fault: 'a header that is none',
  },
  {
    name: 'a blank before the colon',
    raw: 'HTTP/1.1 200 OK\r\nx : y\r\n\r\n',
    status: 0,
    fault: 'a header that is none',
  },
  {
    name: 'a folded header',
    raw: 'HTTP/1.1 200 OK\r\nx: y\r\n z\r\n\r\n',
    status: 0,
    fault: 'a header that is none',
    ours: true,
  },
  {
    name: 'NUL in a header',
    raw: 'HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n',
    status: 0,
    fault: 'a header that is none',
  },
  {
    name: 'a lone return in a header',
    raw: 'HTTP/1.1 200 OK\r\nx: a\rb: c\r\n\r\n',
    status: 0,
    fault: 'a header that is none',
  },
  {
    name: 'a length and chunks',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    status: 0,
    fault: 'two lengths',
  },
  {
    name: 'chunks and a length',
    raw: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n',
    status: 0,
    fault: 'two lengths',
  },
  {
    name: 'two lengths',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nokk',
    status: 0,
    fault: 'two lengths',
  },
  {
    name: 'a list of lengths',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nok',
    status: 0,
    fault: 'a length that is none',
  },
  {
    name: 'a negative length',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok',
    status: 0,
    fault: 'a length that is none',
  },
  {
    name: 'a length with a sign',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nok',
    status: 0,
    fault: 'a length that is none',
  },
  {
    name: 'no length at all',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\nok',
    status: 0,
    fault: 'a length that is none',
    ours: true,
  },
  {
    name: 'a length behind a blank of another kind',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: \xa02\r\n\r\nok',
    status: 0,
    fault: 'a length that is none',
  },
  {
    name: 'a huge length',
    raw: 'HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\nok',
    status: 0,
    fault: 'a length that is none',
  },
  {
    name: 'chunked twice',
    raw: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    status: 0,
    fault: 'an unknown transfer coding',
    ours: true,
  },
  {
    name: 'another coding',
    raw: 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    status: 0,
    fault: 'an unknown transfer coding',
    ours: true,
  },
  { name: 'a size that is none', raw: `${chunked}2\r\nok\r\nxyz\r\n`, body: 'ok', fault: 'a broken chunk' },
  { name: 'an empty size', raw: `${chunked}\r\n`, fault: 'a broken chunk' },
  { name: 'a size with a sign', raw: `${chunked}-1\r\n`, fault: 'a broken chunk' },
  { name: 'a size in C', raw: `${chunked}0x2\r\nok\r\n`, fault: 'a broken chunk' },
  { name: 'a huge size', raw: `${chunked}ffffffffffffffffff\r\n`, fault: 'a broken chunk' },
  { name: 'a size and a lone line feed', raw: `${chunked}2\nok\r\n`, fault: 'a broken chunk' },
  { name: 'a size and a lone return', raw: `${chunked}2\rok\r\n`, fault: 'a broken chunk' },
  {
    name: 'a chunk longer than its size',
    raw: `${chunked}2\r\nokay\r\n0\r\n\r\n`,
    body: 'ok',
    fault: 'a broken chunk',
  },
  { name: 'a line feed in an extension', raw: `${chunked}2;a\nb\r\nok\r\n`, fault: 'a broken chunk' },
  {
    name: 'a trailer that is none',
    raw: `${chunked}2\r\nok\r\n0\r\nx y\r\n\r\n`,
    body: 'ok',
    fault: 'a trailer that is none',
  },
];
