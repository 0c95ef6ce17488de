/** Cases of requests in several segments, and of several requests on one connection. */
import {
  accepts,
  type Case,
  chunked,
  get,
  got,
  newUws,
  oldUws,
  post,
  posted,
  refuses,
  smuggled,
  uws,
} from './case.ts';

const plain = post(['Content-Length: 5'], 'hello');
const inChunks = chunked('5\r\nhello\r\n0\r\n\r\n');
const slow = plain.replace('echo', 'slow');
const slowly = posted('hello').replace('echo', 'slow');

/** In two segments, the second one from `mark` on. */
const split = (name: string, request: string, mark: string, known?: Case['known']): Case => {
  const at = request.indexOf(mark) + 1;
  return accepts(`split ${name}`, [request.slice(0, at), request.slice(at)], [posted('hello')], known);
};

export const segments: readonly Case[] = [
  split('in the method', plain, 'OST', oldUws('refuses')),
  split('behind the method', plain, ' /v1', oldUws('refuses')),
  split('in the target', plain, 'echo', oldUws('refuses')),
  split('before the version', plain, 'o HTTP', oldUws('refuses')),
  split('in the version', plain, 'TTP', oldUws('refuses')),
  split('in the line end of the first line', plain, '\r', oldUws('refuses')),
  split('behind the first line', plain, '\n'),
  split('in a name', plain, 'ost:'),
  split('before a colon', plain, 't:'),
  split('behind a colon', plain, ':'),
  split('in a value', plain, 'est'),
  split('in the line end of a value', plain, '5\r'),
  split('in the empty line', plain, '\n\r'),
  split('in the end of the head', plain, '\r\nhello'),
  split('before the body', plain, '\nhello'),
  split('in the body', plain, 'hel'),
  split('in a chunk size', inChunks, '\r\n5'),
  split('behind a chunk size', inChunks, '5\r\nhello'),
  split('in the line end of a size', inChunks, '\r\nhello'),
  split('in a chunk', inChunks, 'hello'),
  split('behind a chunk', inChunks, 'o\r\n0'),
  split('in the line end of a chunk', inChunks, '\r\n0'),
  split('behind the last size', inChunks, '0\r\n\r\n'),
  split('in the last line end', inChunks, '\n\r\n'),
  accepts('a head in single bytes', [...plain], [posted('hello')], oldUws('refuses')),
  accepts(
    'a head in single bytes, behind the first line',
    [plain.slice(0, 24), ...plain.slice(24)],
    [posted('hello')],
  ),
  accepts('chunks in single bytes', [inChunks.slice(0, -15), ...inChunks.slice(-15)], [posted('hello')]),

  accepts('two GETs', get() + get(), [got, got]),
  accepts('five GETs', get().repeat(5), [got, got, got, got, got]),
  accepts('GET and POST', get() + plain, [got, posted('hello')]),
  accepts('POST and GET', plain + get(), [posted('hello'), got]),
  accepts('POST and POST', plain + plain, [posted('hello'), posted('hello')]),
  accepts('two GETs, split between', [get(), get()], [got, got]),
  accepts('two GETs, split in the second', [get() + get().slice(0, 30), get().slice(30)], [got, got]),
  // The library closes the connection; nothing is read out of order.
  accepts('a POST that takes a while, and GET', slow + get(), [slowly, got], uws('drops')),
  accepts('a POST that takes a while, and POST', slow + plain, [slowly, posted('hello')], uws('drops')),
  accepts(
    'a POST that takes a while, and GET in the next segment',
    [slow, get()],
    [slowly, got],
    uws('drops'),
  ),
  refuses('GET and a malformed GET', `${get()}GET /v1/echo XTTP/1.1\r\nHost: test\r\n\r\n`, {}, [got]),
  refuses(
    'GET and a POST of two lengths',
    get() + post(['Content-Length: 5', 'Content-Length: 6'], 'hello!') + smuggled,
    uws('drops'),
    [got],
  ),
  refuses('a POST that takes a while, and garbage', `${slow}garbage\r\n\r\n`, newUws('waits'), [slowly]),
  refuses(
    'a POST that takes a while, and a malformed one',
    slow + post(['Content-Length: 5', 'Content-Length: 6'], 'hello!'),
    uws('drops'),
    [slowly],
  ),
  refuses(
    'a request behind one that closes the connection',
    `${get('/v1/echo', 'Connection: close')}garbage\r\n\r\n`,
    {},
    [got],
  ),
];
