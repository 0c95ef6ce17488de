/** Tests that hostile media files are refused or read harmlessly, in bounded time. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { lastValueFrom, Observable, toArray } from 'rxjs';
import t from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { ApiError } from '../../src/errors.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { codec, film, tone, wave } from '../audio/sounds.ts';
import { someOf } from '../long.ts';
import { thrownBy } from '../thrown-by.ts';
import {
  attachment,
  box,
  matroska,
  nestedMp4,
  oggPage,
  pictureTrack,
  soundTrack,
  subtitleTrack,
} from './hostile-boxes.ts';
import './own-folder.ts';

t.teardown(() => codec.close());

const bounds = { maxBytes: 16 * 1024 * 1024, timeoutMs: 60_000 };
/** Seconds; a machine under load included. */
const longest = 45;

const convert = (bytes: Uint8Array | Observable<Uint8Array>, ...words: readonly string[]) =>
  lastValueFrom(
    codec.convert(bytes, { ...bounds, arguments: words }, new Backpressure()).pipe(toArray()),
  ).then(Buffer.concat);

const verdict = async (work: () => Promise<unknown>): Promise<string> => {
  const begun = performance.now();
  const thrown = await thrownBy(work());
  const seconds = (performance.now() - begun) / 1000;
  if (seconds > longest) return `took ${seconds} seconds`;
  return thrown instanceof ApiError ? `${thrown.status} ${thrown.message}` : String(thrown);
};

const unknown = '400 is not in a format that can be read: its first bytes are not those of one';
const damaged = '400 cannot be decoded: it is damaged, incomplete or not what it looks like';

t.test('texts that name files and addresses reach neither', async (t) => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.ts`;
  for (const [what, text] of [
    [
      'HLS',
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST\n`,
    ],
    ['HLS with a key', `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${url}"\n#EXTINF:1,\n${url}\n`],
    ['concat', `ffconcat version 1.0\nfile 'file:///etc/passwd'\nfile '${url}'\n`],
    ['DASH', `<?xml version="1.0"?><MPD><Period><BaseURL>${url}</BaseURL></Period></MPD>`],
    ['SDP', 'v=0\no=- 0 0 IN IP4 127.0.0.1\nm=audio 5004 RTP/AVP 0\nc=IN IP4 127.0.0.1\n'],
    ['ASS', '[Script Info]\n[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,text\n'],
    ['SubRip', '1\n00:00:00,000 --> 00:00:01,000\ntext\n'],
    ['WebVTT', 'WEBVTT\n\n00:00.000 --> 00:01.000\ntext\n'],
    ['SVG', `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}"/></svg>`],
  ] as const) {
    const bytes = Buffer.from(text);
    t.equal(await verdict(() => codec.probe(bytes)), unknown, what);
    t.equal(await verdict(() => convert(bytes, '-f', 'wav')), unknown, what);
    // Behind the head of a format that is read.
    const behind = Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1'), bytes]);
    t.match(await verdict(() => codec.probe(behind)), /^400 /, `${what} behind a head`);
  }
  t.equal(requests, 0);
});

t.test('pictures of 100,000 × 100,000', async (t) => {
  const file = matroska([pictureTrack(100_000, 100_000)], [[1, Buffer.alloc(4096)]]);
  t.match(await verdict(() => codec.probe(file)), /^400 /);
  t.match(await verdict(() => convert(file, '-f', 'rawvideo')), /^400 /);
  const small = matroska([pictureTrack(16, 16)], [[1, Buffer.alloc(384)]]);
  t.match(await codec.probe(small), { width: 16, height: 16, frames: 1 }, 'the same file with small ones');
});

t.test('boxes in boxes', async (t) => {
  t.match(await verdict(() => codec.probe(nestedMp4(100_000))), /^400 /);
  const many = Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\0\0isom')),
    box('moov', ...Array.from({ length: 20_000 }, () => box('trak'))),
  ]);
  t.match(await verdict(() => codec.probe(many)), /^400 /);
});

/** Of a film of a second: some boxes are read as if they ended with the file. */
const outcome = async (film: Buffer): Promise<string> => {
  const length = codec.probe(film).then(({ seconds }) => `has ${seconds} seconds`);
  const seen = await Promise.race([
    length.catch(String),
    delay(longest * 1000, 'takes too long', { ref: false }),
  ]);
  return /^(has (1|0)(\.\d+)? seconds|ApiError: (is|cannot|holds) )/.test(seen)
    ? 'refused or as long as it is'
    : seen;
};

t.test('boxes that are cut, and sizes that are not there', async (t) => {
  const clip = await film(1);
  const sizes = [...clip.toString('latin1').matchAll(/moov|trak|stsz|stco|stts|mdat/g)].map(
    ({ index }) => index - 4,
  );
  t.ok(sizes.length >= 8, 'it has the boxes');
  for (const at of someOf(sizes, 3)) {
    const cut = clip.subarray(0, at + 12);
    t.equal(await outcome(cut), 'refused or as long as it is', `cut in the box at ${at}`);
    const lying = Buffer.from(clip);
    lying.writeUInt32BE(0xffff_fff0, at);
    t.equal(await outcome(lying), 'refused or as long as it is', `a box of 4 GiB at ${at}`);
  }
  const head = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
  const endless = Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]);
  t.match(
    await verdict(() => codec.probe(Buffer.concat([head, endless, Buffer.from('webm'), Buffer.alloc(4096)]))),
    /^400 /,
    'an element of 2^56 bytes',
  );
});

t.test('claims of more than is there', async (t) => {
  const second = new Uint8Array(48_000);
  for (const [what, header, seconds] of [
    ['4 GiB of samples', { size: 0xffff_ffff }, 1],
    ['65,535 channels', { channels: 65_535 }, undefined],
    ['4 billion samples a second', { rate: 0xffff_ffff }, undefined],
    ['no samples a second', { rate: 0 }, undefined],
    ['65,528 bits a sample', { bits: 65_528 }, undefined],
  ] as const) {
    const bytes = wave(second, header);
    if (seconds === undefined) t.match(await verdict(() => codec.probe(bytes)), /^400 /, what);
    else t.match(await codec.probe(bytes), { seconds }, what);
  }
  const clip = await film(1, false);
  const counts = clip.indexOf('stsz') + 12;
  const many = Buffer.from(clip);
  many.writeUInt32BE(0x7fff_ffff, counts);
  t.equal(await outcome(many), 'refused or as long as it is', '2 billion pictures');
});

t.test('an Ogg without an end', async (t) => {
  const streams = Buffer.concat(Array.from({ length: 20_000 }, (_, serial) => oggPage(serial + 1)));
  t.match(await verdict(() => codec.probe(streams)), /^400 /, '20,000 streams');

  const narrow = createCodec({ maxSpoolBytes: 4 * 1024 * 1024 });
  t.teardown(() => narrow.close());
  const backpressure = new Backpressure();
  const endless = new Observable<Uint8Array>((subscriber) => {
    let serial = 0;
    const timer = setInterval(() => {
      for (let page = 0; page < 1000 && !backpressure.paused; page++) subscriber.next(oggPage(++serial));
    });
    return () => clearInterval(timer);
  });
  const conversion = { ...bounds, arguments: ['-f', 'wav'], inputBackpressure: backpressure };
  t.equal(
    await verdict(() =>
      lastValueFrom(narrow.convert(endless, conversion, new Backpressure()).pipe(toArray())),
    ),
    '413 is larger than the limit of 4194304 bytes',
  );
});

t.test('attachments and subtitles are not looked at', async (t) => {
  const second = Buffer.from(new Uint8Array(16_000).map((_, at) => (at * 37) & 63));
  const name = '../../../../tmp/sluice-attachment.ttf';
  const file = matroska(
    [soundTrack(), subtitleTrack()],
    [
      [1, second],
      [2, Buffer.from('0,0,Default,../../etc/passwd')],
    ],
    [attachment(name, Buffer.alloc(1024 * 1024, 'font'))],
  );
  t.match(await codec.probe(file), { container: 'mkv', hasAudio: true, hasVideo: false, seconds: 1 });
  const copied = await convert(file, '-c:a', 'libopus', '-f', 'matroska');
  t.ok(copied.includes('A_OPUS'));
  t.notOk(copied.includes('S_TEXT'), 'no subtitles');
  t.notOk(copied.includes('fontfont'), 'no attachment');
  t.notOk(existsSync('/tmp/sluice-attachment.ttf'));
});

t.test('decoders that are not on the list are never reached', async (t) => {
  // The same bytes under the name of an old game's codec.
  const clip = await film(1, false);
  const renamed = Buffer.from(clip.toString('latin1').replaceAll('avc1', 'SVQ3'), 'latin1');
  t.equal(await verdict(() => codec.probe(renamed)), damaged);
  const flac = await tone(1, 'flac');
  t.equal(
    await verdict(() =>
      lastValueFrom(
        codec.convert(
          flac,
          { ...bounds, inputArguments: ['-f', 'concat'], arguments: ['-f', 'wav'] },
          new Backpressure(),
        ),
      ),
    ),
    damaged,
    'nor is a format, though it is named',
  );
});
