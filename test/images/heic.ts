/** Makes small HEIC files, of one picture or of tiles, for tests. */
import { readFileSync } from 'node:fs';

const side = 64;

const u8 = (...values: number[]): Buffer => Buffer.from(values);
const u16 = (value: number): Buffer => u8(value >> 8, value & 0xff);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};
const box = (type: string, ...content: Buffer[]): Buffer => {
  const inner = Buffer.concat(content);
  return Buffer.concat([u32(inner.length + 8), Buffer.from(type, 'latin1'), inner]);
};
const full = (type: string, version: number, flags: number, ...content: Buffer[]): Buffer =>
  box(type, u32((version << 24) | flags), ...content);

/** Coded pictures of a colour each, split into their NAL units. */
const coded = (colours: readonly string[]): readonly (readonly Buffer[])[] =>
  colours.map((colour) => unitsOf(readFileSync(new URL(`../fixtures/hevc/${colour}.hevc`, import.meta.url))));

const unitsOf = (stream: Buffer): readonly Buffer[] => {
  const units: Buffer[] = [];
  let start = -1;
  for (let at = 0; at + 3 <= stream.length; at++) {
    if (stream.readUIntBE(at, 3) !== 1) continue;
    if (start >= 0) units.push(stream.subarray(start, stream[at - 1] === 0 ? at - 1 : at));
    start = at + 3;
    at += 2;
  }
  units.push(stream.subarray(start));
  return units;
};

const typeOf = (unit: Buffer): number => ((unit[0] ?? 0) >> 1) & 0x3f;
const isParameter = (unit: Buffer): boolean => typeOf(unit) >= 32 && typeOf(unit) <= 34;

const setupBox = (units: readonly Buffer[]): Buffer => {
  const parameters = units.filter(isParameter);
  return box(
    'hvcC',
    u8(1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 30, 0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f),
    u8(parameters.length),
    ...parameters.flatMap((unit) => [u8(typeOf(unit)), u16(1), u16(unit.length), unit]),
  );
};

const sizeBox = (width: number, height: number): Buffer => full('ispe', 0, 0, u32(width), u32(height));

export interface HeicOptions {
  readonly brand?: 'heic' | 'mif1';
  /** Tiles side by side; one is a picture without a grid. */
  readonly tiles?: number;
  /** Size that the file says it has. */
  readonly size?: { readonly width: number; readonly height: number };
}

/** 64 by 64 pixels, times its tiles. */
export const heic = async ({ brand = 'heic', tiles = 1, size }: HeicOptions = {}): Promise<Buffer> => {
  const pictures = coded(['red', 'green', 'blue', 'white'].slice(0, tiles));
  const ids = pictures.map((_, index) => index + 1);
  const grid = tiles > 1 ? tiles + 1 : undefined;
  const { width, height } = size ?? { width: side * tiles, height: side };
  const data = pictures.map((units) =>
    Buffer.concat(units.filter((unit) => !isParameter(unit)).flatMap((unit) => [u32(unit.length), unit])),
  );
  const layout = Buffer.concat([u8(0, 0, 0, tiles - 1), u16(width), u16(height)]);
  const item = (id: number, type: string) =>
    full('infe', 2, 0, u16(id), u16(0), Buffer.from(`${type}\0`, 'latin1'));
  const meta = (start: number): Buffer => {
    let offset = start;
    const places = data.map((bytes, index) => {
      const place = Buffer.concat([
        u16(ids[index] ?? 0),
        u16(0),
        u16(0),
        u16(1),
        u32(offset),
        u32(bytes.length),
      ]);
      offset += bytes.length;
      return place;
    });
    if (grid !== undefined)
      places.push(Buffer.concat([u16(grid), u16(1), u16(0), u16(1), u32(0), u32(layout.length)]));
    const own = [...ids.map((id) => [id, 1, 2]), ...(grid === undefined ? [] : [[grid, 3]])];
    return full(
      'meta',
      0,
      0,
      full('hdlr', 0, 0, u32(0), Buffer.from('pict', 'latin1'), Buffer.alloc(13)),
      full('pitm', 0, 0, u16(grid ?? 1)),
      full(
        'iinf',
        0,
        0,
        u16(places.length),
        ...ids.map((id) => item(id, 'hvc1')),
        ...(grid === undefined ? [] : [item(grid, 'grid')]),
      ),
      ...(grid === undefined
        ? []
        : [full('iref', 0, 0, box('dimg', u16(grid), u16(tiles), ...ids.map(u16)))]),
      box(
        'iprp',
        box(
          'ipco',
          setupBox(pictures[0] ?? []),
          sizeBox(tiles === 1 ? width : side, tiles === 1 ? height : side),
          sizeBox(width, height),
        ),
        full(
          'ipma',
          0,
          0,
          u32(own.length),
          ...own.map(([id = 0, ...indexes]) => Buffer.concat([u16(id), u8(indexes.length, ...indexes)])),
        ),
      ),
      ...(grid === undefined ? [] : [box('idat', layout)]),
      full('iloc', 1, 0, u8(0x44, 0), u16(places.length), ...places),
    );
  };
  const start = box('ftyp', Buffer.from(`${brand}\0\0\0\0mif1heic`, 'latin1'));
  const length = start.length + meta(0).length + 8;
  return Buffer.concat([start, meta(length), box('mdat', ...data)]);
};
