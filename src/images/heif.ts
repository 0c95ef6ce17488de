/** Reads a HEIF file as far as its HEVC pictures: their sizes, and their bytes for a decoder. */

export interface HeifPicture {
  readonly width: number;
  readonly height: number;
  /** Coded pictures that it is put together from: one, or the tiles of a grid. */
  readonly tiles: number;
  /** All of them, one after another, as a raw HEVC stream. */
  readonly hevc: Buffer;
}

/** Undefined for one that is coded otherwise. Throws when boxes or bytes are missing. */
export const readHeif = (file: Buffer): HeifPicture | undefined => {
  const boxes = boxesOf(new Reader(file));
  const meta = new Meta(file, boxOf(boxes, 'meta'));
  const tiles = meta.codedItems(meta.primary, deepest);
  if (tiles.length === 0 || tiles.some((item) => !hevcTypes.has(meta.typeOf(item)))) return undefined;
  const { width, height } = meta.sizeOf(meta.primary);
  return {
    width,
    height,
    tiles: tiles.length,
    hevc: Buffer.concat(tiles.flatMap((item) => meta.stream(item))),
  };
};

const hevcTypes = new Set(['hvc1', 'hev1']);
/** Made of other items: side by side, on top of each other, or turned. */
const derivedTypes = new Set(['grid', 'iovl', 'iden']);
/** Derived items may be made of derived ones. */
const deepest = 4;
/** A photograph of 48 megapixels has about 200 tiles. */
const mostItems = 4096;

/** Throws beyond the end, as all reads of a buffer do. */
class Reader {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** An unsigned number of 0 to 8 bytes. */
  number(size: number): number {
    if (size === 0) return 0;
    const at = this.at;
    this.at += size;
    if (size <= 6) return this.bytes.readUIntBE(at, size);
    const value = Number(this.bytes.readBigUInt64BE(at));
    if (!Number.isSafeInteger(value)) throw new RangeError('A number is too large');
    return value;
  }

  name(): string {
    return this.take(4).toString('latin1');
  }

  take(length: number): Buffer {
    if (length > this.left) throw new RangeError('Bytes are missing');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** Of a box that has one; flags follow it. */
  version(): number {
    const version = this.number(1);
    this.at += 3;
    return version;
  }

  /** At most as many as a file may have. */
  count(size: number): number {
    const count = this.number(size);
    if (count > mostItems) throw new RangeError('There are too many items');
    return count;
  }
}

interface Box {
  readonly type: string;
  readonly content: Buffer;
}

const boxesOf = (reader: Reader): readonly Box[] => {
  const boxes: Box[] = [];
  while (reader.left >= 8) {
    const start = reader.at;
    const short = reader.number(4);
    const type = reader.name();
    const size = short === 1 ? reader.number(8) : short === 0 ? reader.bytes.length - start : short;
    boxes.push({ type, content: reader.take(size - (reader.at - start)) });
    if (boxes.length > mostItems) throw new RangeError('There are too many boxes');
  }
  return boxes;
};

const boxOf = (boxes: readonly Box[], type: string): Reader => {
  const found = boxes.find((box) => box.type === type);
  if (found === undefined) throw new RangeError(`There is no ${type}`);
  return new Reader(found.content);
};

interface Place {
  /** 0: of the file; 1: of the bytes inside the metadata. */
  readonly method: number;
  readonly extents: readonly { readonly offset: number; readonly length: number }[];
}

class Meta {
  readonly primary: number;
  readonly #file: Buffer;
  readonly #inside: Buffer;
  readonly #types: ReadonlyMap<number, string>;
  readonly #places: ReadonlyMap<number, Place>;
  readonly #parts: ReadonlyMap<number, readonly number[]>;
  readonly #properties: ReadonlyMap<number, readonly Box[]>;

  constructor(file: Buffer, reader: Reader) {
    reader.version();
    const boxes = boxesOf(reader);
    const primary = boxOf(boxes, 'pitm');
    this.primary = primary.number(primary.version() === 0 ? 2 : 4);
    this.#file = file;
    this.#inside = boxes.find(({ type }) => type === 'idat')?.content ?? Buffer.alloc(0);
    this.#types = readTypes(boxOf(boxes, 'iinf'));
    this.#places = readPlaces(boxOf(boxes, 'iloc'));
    this.#parts = boxes.some(({ type }) => type === 'iref') ? readParts(boxOf(boxes, 'iref')) : new Map();
    this.#properties = readProperties(boxesOf(boxOf(boxes, 'iprp')));
  }

  typeOf(item: number): string {
    return this.#types.get(item) ?? '';
  }

  /** The item itself, or those that it is made of. */
  codedItems(item: number, depth: number): readonly number[] {
    if (!derivedTypes.has(this.typeOf(item)) || depth === 0) return [item];
    const items = (this.#parts.get(item) ?? []).flatMap((part) => this.codedItems(part, depth - 1));
    if (items.length > mostItems) throw new RangeError('There are too many tiles');
    return items;
  }

  sizeOf(item: number): { readonly width: number; readonly height: number } {
    const reader = boxOf(this.#properties.get(item) ?? [], 'ispe');
    reader.version();
    return { width: reader.number(4), height: reader.number(4) };
  }

  /** Parameter sets, then the coded picture. */
  stream(item: number): readonly Buffer[] {
    const setup = boxOf(this.#properties.get(item) ?? [], 'hvcC');
    const lengthBytes = ((setup.bytes[21] ?? 0) & 3) + 1;
    setup.at = 22;
    const units: Buffer[] = [];
    for (let arrays = setup.number(1); arrays > 0; arrays--) {
      setup.number(1);
      for (let count = setup.number(2); count > 0; count--) units.push(setup.take(setup.number(2)));
    }
    const data = new Reader(this.#dataOf(item));
    while (data.left > 0) units.push(data.take(data.number(lengthBytes)));
    return units.flatMap((unit) => [startCode, unit]);
  }

  #dataOf(item: number): Buffer {
    const { method, extents } = this.#places.get(item) ?? { method: 0, extents: [] };
    const source = method === 1 ? this.#inside : this.#file;
    if (extents.length === 0 || method > 1) throw new RangeError('A picture has no bytes');
    return Buffer.concat(
      extents.map(({ offset, length }) => {
        const reader = new Reader(source);
        reader.take(offset);
        return reader.take(length === 0 ? reader.left : length);
      }),
    );
  }
}

const startCode = Buffer.from([0, 0, 0, 1]);

const readTypes = (reader: Reader): ReadonlyMap<number, string> => {
  reader.count(reader.version() === 0 ? 2 : 4);
  return new Map(
    boxesOf(reader)
      .filter(({ type }) => type === 'infe')
      .map(({ content }) => {
        const entry = new Reader(content);
        const item = entry.number(entry.version() < 3 ? 2 : 4);
        entry.number(2);
        return [item, entry.name()] as const;
      }),
  );
};

const readPlaces = (reader: Reader): ReadonlyMap<number, Place> => {
  const version = reader.version();
  const [offsets, lengths] = halves(reader.number(1));
  const [bases, indexes] = halves(reader.number(1));
  const idBytes = version < 2 ? 2 : 4;
  const places = new Map<number, Place>();
  for (let left = reader.count(idBytes); left > 0; left--) {
    const item = reader.number(idBytes);
    const method = version === 0 ? 0 : reader.number(2) & 0xf;
    reader.number(2);
    const base = reader.number(bases);
    const extents = Array.from({ length: reader.count(2) }, () => {
      if (version > 0) reader.number(indexes);
      return { offset: base + reader.number(offsets), length: reader.number(lengths) };
    });
    places.set(item, { method, extents });
  }
  return places;
};

const halves = (byte: number): readonly [number, number] => [byte >> 4, byte & 0xf];

/** Of derived items. */
const readParts = (reader: Reader): ReadonlyMap<number, readonly number[]> => {
  const idBytes = reader.version() === 0 ? 2 : 4;
  return new Map(
    boxesOf(reader)
      .filter(({ type }) => type === 'dimg')
      .map(({ content }) => {
        const entry = new Reader(content);
        const item = entry.number(idBytes);
        return [item, Array.from({ length: entry.count(2) }, () => entry.number(idBytes))] as const;
      }),
  );
};

const readProperties = (boxes: readonly Box[]): ReadonlyMap<number, readonly Box[]> => {
  const all = boxesOf(boxOf(boxes, 'ipco'));
  const reader = boxOf(boxes, 'ipma');
  const version = reader.number(1);
  const indexBytes = (reader.number(3) & 1) === 1 ? 2 : 1;
  const properties = new Map<number, readonly Box[]>();
  for (let left = reader.count(4); left > 0; left--) {
    const item = reader.number(version < 1 ? 2 : 4);
    const own = Array.from({ length: reader.number(1) }, () => {
      // The first bit says whether a reader must know the property.
      const index = reader.number(indexBytes) & (indexBytes === 2 ? 0x7fff : 0x7f);
      return all[index - 1];
    });
    properties.set(
      item,
      own.filter((box) => box !== undefined),
    );
  }
  return properties;
};
