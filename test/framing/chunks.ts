/** Cases of chunked bodies and their trailers. */
import {
  accepts,
  type Case,
  chunked,
  either,
  get,
  got,
  newUws,
  posted,
  refuses,
  smuggled,
  uws,
} from './case.ts';

const end = '0\r\n\r\n';
/** A body that ends somewhere else for a lenient reader, in front of a request that nobody may read. */
const bad = (name: string, body: string, known?: Case['known']): Case =>
  refuses(name, chunked(body + smuggled), known);
const size = (text: string, known?: Case['known']): Case =>
  bad(`a chunk size of ${JSON.stringify(text.slice(0, 30))}`, `${text}\r\nhello\r\n${end}`, known);

export const chunks: readonly Case[] = [
  accepts('several chunks', chunked(`3\r\nhel\r\n2\r\nlo\r\n${end}`), [posted('hello')]),
  accepts('chunks of one byte', chunked(`${[...'hello'].map((byte) => `1\r\n${byte}\r\n`).join('')}${end}`), [
    posted('hello'),
  ]),
  accepts('a size in lower case', chunked(`a\r\n0123456789\r\n${end}`), [posted('0123456789')]),
  accepts('a size in upper case', chunked(`A\r\n0123456789\r\n${end}`), [posted('0123456789')]),
  accepts('a size with zeros in front', chunked(`0005\r\nhello\r\n${end}`), [posted('hello')]),
  accepts('a last size of several zeros', chunked('5\r\nhello\r\n000\r\n\r\n'), [posted('hello')]),
  accepts('line ends within a chunk', chunked(`7\r\n0\r\n\r\nab\r\n${end}`), [posted('0\r\n\r\nab')]),
  accepts('a chunk of 64 KB', chunked(`10000\r\n${'x'.repeat(65_536)}\r\n${end}`), [posted('65536 bytes')]),
  accepts(
    'a request behind the chunks',
    chunked(`5\r\nhello\r\n${end}`) + get(),
    [posted('hello'), got],
    uws('drops'),
  ),
  accepts('an extension', chunked(`5;a\r\nhello\r\n${end}`), [posted('hello')], uws('waits')),
  accepts(
    'an extension with a value',
    chunked(`5;name=value\r\nhello\r\n${end}`),
    [posted('hello')],
    uws('refuses'),
  ),
  accepts(
    'an extension with a quoted value',
    chunked(`5;name="a b"\r\nhello\r\n${end}`),
    [posted('hello')],
    uws('refuses'),
  ),
  accepts(
    'an extension of the last chunk',
    chunked('5\r\nhello\r\n0;name=value\r\n\r\n'),
    [posted('hello')],
    uws('refuses'),
  ),
  accepts('a trailer', chunked('5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n'), [posted('hello')], uws('refuses')),
  accepts(
    'two trailers',
    chunked('5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n'),
    [posted('hello')],
    uws('refuses'),
  ),
  // Trailers for whoever knows chunks, and a request for whoever takes the body to end with its last chunk.
  accepts(
    'a trailer that is a request',
    chunked('5\r\nhello\r\n0\r\nGET: /v1/smuggled HTTP/1.1\r\nHost: test\r\n\r\n'),
    [posted('hello')],
    uws('drops'),
  ),
  bad('a trailer without a colon', '5\r\nhello\r\n0\r\nX-Sum\r\n\r\n', newUws('accepts')),
  either('a length among the trailers', chunked('5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n'), [
    posted('hello'),
  ]),
  either('a coding among the trailers', chunked('5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n'), [
    posted('hello'),
  ]),

  size('0x5'),
  size('+5'),
  size('-5'),
  // 16 for the library, so that it waits for the rest, as behind an extension.
  size('5g', uws('waits')),
  size('g'),
  size('5_'),
  size('5,'),
  size('5.0'),
  size('"5"'),
  size('five'),
  // The library takes these for the last chunk. It closes the connection behind it, as behind every chunked request.
  size('\0', newUws('accepts')),
  size('5\0'),
  size(' 5', newUws('accepts')),
  size('5 5'),
  size('5 garbage'),
  size('5\t'),
  size(':'),
  size('@'),
  size('\u00b2', newUws('accepts')),
  size('5\u00a0'),
  size('f'.repeat(17)),
  size('10000000000000005'),
  either('a blank behind a size', chunked(`5 \r\nhello\r\n${end}`), [posted('hello')], uws('accepts')),
  // The largest sizes that there are: the rest of such a chunk may come, and is counted.
  ...['f'.repeat(15), 'f'.repeat(16), '100000005'].map((text) =>
    either(`a chunk size of ${text}`, chunked(`${text}\r\nhello`), ['all of it'], {
      ...uws('waits'),
      node: 'waits',
    }),
  ),
  either('a size with 40,000 zeros', chunked(`${'0'.repeat(40_000)}5\r\nhello\r\n${end}`), [posted('hello')]),
  bad('no size', `\r\nhello\r\n${end}`, newUws('accepts')),
  bad('a bare LF behind the size', `5\nhello\r\n${end}`),
  bad('a bare CR behind the size', `5\rhello\r\n${end}`),
  bad('a bare LF behind the data', `5\r\nhello\n${end}`),
  bad('a bare CR behind the data', `5\r\nhello\r${end}`),
  bad('letters behind the data', `5\r\nhelloXY${end}`),
  bad('nothing behind the data', `5\r\nhello${end}`),
  bad('more data than the size', `5\r\nhello world\r\n${end}`),
  bad('a bare LF behind the last size', '5\r\nhello\r\n0\n\r\n'),
  bad('a bare LF at the end', '5\r\nhello\r\n0\r\n\n'),
  bad('letters at the end', '5\r\nhello\r\n0\r\nXY'),
  bad('a bare LF in an extension', `5;a\nb\r\nhello\r\n${end}`, uws('waits')),
  bad('a bare CR in an extension', `5;a\rb\r\nhello\r\n${end}`, uws('waits')),
  bad('an extension of 100 KB', `5;${'a'.repeat(100_000)}\r\nhello\r\n${end}`),
  bad('an extension that hides the end', `5;\n${end}\r\nhello\r\n${end}`, uws('waits')),
];
