/** The first bytes of a request body, which are looked at before the rest is received. */
import { map, of, switchMap, tap } from 'rxjs';
import type { Test } from 'tap';
import { jsonReply, type Pipeline, smallBodyBytes } from '../../../src/ports/exchange.ts';
import { eventually } from '../../eventually.ts';
import { goodKey, slowKey, startEdge } from '../../http/edge-fixture.ts';
import { request, settled } from '../../http/raw-client.ts';
import { keyed } from './probe.ts';

const limit = 4 * 1024 * 1024;
const own = { authorization: `Bearer ${goodKey}` };
const chunked = { ...own, 'transfer-encoding': 'chunked' };
const chunk = (piece: string): string => `${piece.length.toString(16)}\r\n${piece}\r\n`;
const text = (length: number): string => 'first'.padEnd(length - 4, '.').concat('last');

export const prefix = async (t: Test, name: 'uws' | 'node'): Promise<void> => {
  const seen: (number | undefined)[] = [];
  const look: Pipeline = ({ body }) =>
    body.prefix().pipe(
      tap((bytes) => seen.push(bytes?.length)),
      switchMap((first) =>
        body.whole().pipe(
          map((bytes) => {
            const same = first === undefined || first.equals(bytes.subarray(0, first.length));
            return jsonReply({ bytes: bytes.length, end: bytes.toString('latin1', bytes.length - 4), same });
          }),
        ),
      ),
    );
  const only: Pipeline = ({ body }) =>
    body.prefix().pipe(switchMap((bytes) => of(jsonReply({ bytes: bytes?.length ?? null }))));
  const { client } = await startEdge(t, name, [
    keyed('POST', '/look', look, limit),
    keyed('POST', '/only', only, limit),
  ]);

  await t.test('is part of the body', async (t) => {
    for (const length of [0, 5, smallBodyBytes, smallBodyBytes + 1, 3_000_000]) {
      const first = length > smallBodyBytes ? smallBodyBytes : undefined;
      const bodies = [
        request('POST', '/v1/look', { headers: own, body: text(length).slice(0, length) }),
        request('POST', '/v1/look', {
          headers: { authorization: `Bearer ${slowKey}` },
          body: text(length).slice(0, length),
        }),
        request('POST', '/v1/look', {
          headers: chunked,
          body: `${length === 0 ? '' : chunk(text(length).slice(0, length))}0\r\n\r\n`,
        }),
      ];
      for (const sent of bodies) {
        seen.length = 0;
        const response = await (await client()).send(sent).response();
        t.same(JSON.parse(response.body), {
          bytes: length,
          end: length === 0 ? '' : text(length).slice(0, length).slice(-4),
          same: true,
        });
        t.strictSame(seen, [first], `of ${length} bytes`);
      }
    }
  });

  await t.test('no more is read until the body is', async (t) => {
    const connection = await client();
    connection.send(request('POST', '/v1/only', { headers: { ...own, 'content-length': String(limit) } }));
    connection.send('x'.repeat(smallBodyBytes));
    await settled(() => connection.total);
    t.equal(connection.total, 0, 'one byte is missing');
    connection.send('x');
    const { status, body, headers } = await connection.response();
    t.strictSame([status, JSON.parse(body), headers.connection], [200, { bytes: smallBodyBytes }, 'close']);
    await eventually(() => connection.closed, 'the connection to close');
  });

  await t.test('bodies that are refused', async (t) => {
    const send = async (headers: Record<string, string>, body: string) => {
      const response = await (await client()).send(request('POST', '/v1/look', { headers, body })).response();
      const { error } = JSON.parse(response.body) as { readonly error: { readonly message: string } };
      return `${response.status} ${error.message}`;
    };
    seen.length = 0;
    const large = `413 Request body is larger than the limit of ${limit} bytes`;
    t.equal(await send(own, 'x'.repeat(limit + 1)), large);
    t.equal(
      await send(chunked, chunk('x').repeat(20_000)),
      '400 Chunks of the request body must have more than 64 bytes on average',
    );
    t.strictSame(seen, []);
  });

  await t.test('Expect: 100-continue', async (t) => {
    const connection = await client();
    const headers = { ...own, expect: '100-continue', 'content-length': String(smallBodyBytes + 1) };
    connection.send(request('POST', '/v1/look', { headers }));
    await connection.received('100 Continue');
    connection.send(text(smallBodyBytes + 1));
    await connection.received('"end":"last"');
    t.strictSame(seen.at(-1), smallBodyBytes);
  });
};
