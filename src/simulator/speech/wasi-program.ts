/** Runs a WASI program with one input and one output file in memory. */

/** Not among the types of Node. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  _start(): void;
}

/** `node:wasi` is not used: its objects may be collected while they work, which ends the process. */
export const compile = (bytes: Uint8Array): object => new WebAssembly.Module(bytes);

/** Throws when the program ends with another code than 0. */
export const runProgram = (
  program: object,
  { args, input, output }: { args: readonly string[]; input: Uint8Array; output: string },
): Uint8Array => {
  const files = new Map([['input', new MemoryFile(input)]]);
  const calls = systemCalls(args, files, () => exports.memory.buffer);
  const instance = new WebAssembly.Instance(program, { wasi_snapshot_preview1: calls });
  const exports = instance.exports as Exports;
  try {
    exports._start();
  } catch (thrown) {
    if (!(thrown instanceof Ended)) throw thrown;
    if (thrown.code !== 0) throw new Error(`The program ended with code ${thrown.code}`);
  }
  return files.get(output)?.contents() ?? new Uint8Array(0);
};

class Ended extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`Ended with code ${code}`);
    this.code = code;
  }
}

const maxFileBytes = 256 * 1024 * 1024;

class MemoryFile {
  #bytes: Uint8Array;
  #length: number;
  position = 0;

  constructor(bytes: Uint8Array = new Uint8Array(64 * 1024), length = bytes.length) {
    this.#bytes = bytes;
    this.#length = length;
  }

  get length(): number {
    return this.#length;
  }

  contents(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  read(into: Uint8Array): number {
    const piece = this.#bytes.subarray(this.position, Math.min(this.#length, this.position + into.length));
    into.set(piece);
    this.position += piece.length;
    return piece.length;
  }

  write(bytes: Uint8Array): void {
    const end = this.position + bytes.length;
    if (end > maxFileBytes) throw new Error('The program writes too much');
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.position);
    this.position = end;
    this.#length = Math.max(this.#length, end);
  }
}

const folder = 3;
const folderName = '/';
const ok = 0;
const badDescriptor = 8;
const noEntry = 44;
const create = 1;

/** The calls of `wasi_snapshot_preview1` that a program with two files makes; names and numbers are the standard's. */
const systemCalls = (
  args: readonly string[],
  files: Map<string, MemoryFile>,
  memory: () => ArrayBuffer,
): Record<string, (...values: never[]) => unknown> => {
  const texts = args.map((text) => Buffer.from(`${text}\0`));
  const open = new Map<number, MemoryFile>();
  let next = folder + 1;
  const view = () => new DataView(memory());
  const bytes = (at: number, length: number) => new Uint8Array(memory(), at, length);
  const set = (at: number, value: number) => view().setUint32(at, value, true);
  function* pieces(list: number, count: number): Generator<Uint8Array> {
    for (let at = list; at < list + count * 8; at += 8)
      yield bytes(view().getUint32(at, true), view().getUint32(at + 4, true));
  }
  return {
    args_sizes_get: (count: number, size: number) => {
      set(count, texts.length);
      set(size, Buffer.concat(texts).length);
      return ok;
    },
    args_get: (pointers: number, into: number) => {
      let at = into;
      for (const [index, text] of texts.entries()) {
        set(pointers + index * 4, at);
        bytes(at, text.length).set(text);
        at += text.length;
      }
      return ok;
    },
    // A constant time makes the output deterministic.
    clock_time_get: (_clock: number, _precision: bigint, time: number) => {
      view().setBigUint64(time, 0n, true);
      return ok;
    },
    fd_prestat_get: (descriptor: number, into: number) => {
      if (descriptor !== folder) return badDescriptor;
      set(into, 0);
      set(into + 4, folderName.length);
      return ok;
    },
    fd_prestat_dir_name: (_descriptor: number, into: number, length: number) => {
      bytes(into, length).set(Buffer.from(folderName));
      return ok;
    },
    fd_fdstat_get: (descriptor: number, into: number) => {
      const status = view();
      status.setUint32(into, descriptor < folder ? 2 : descriptor === folder ? 3 : 4, true);
      status.setBigUint64(into + 8, 0xffff_ffff_ffff_ffffn, true);
      status.setBigUint64(into + 16, 0xffff_ffff_ffff_ffffn, true);
      return ok;
    },
    fd_fdstat_set_flags: () => ok,
    path_open: (
      _folder: number,
      _lookup: number,
      path: number,
      length: number,
      flags: number,
      _rights: bigint,
      _inherited: bigint,
      _mode: number,
      into: number,
    ) => {
      const name = Buffer.from(bytes(path, length)).toString();
      const isNew = (flags & create) !== 0;
      if (!isNew && !files.has(name)) return noEntry;
      const file = isNew ? new MemoryFile(undefined, 0) : files.get(name);
      if (file === undefined) return noEntry;
      file.position = 0;
      files.set(name, file);
      open.set(next, file);
      set(into, next++);
      return ok;
    },
    fd_close: (descriptor: number) => {
      open.delete(descriptor);
      return ok;
    },
    fd_read: (descriptor: number, list: number, count: number, into: number) => {
      const file = open.get(descriptor);
      let total = 0;
      for (const piece of pieces(list, count)) total += file?.read(piece) ?? 0;
      set(into, total);
      return ok;
    },
    fd_write: (descriptor: number, list: number, count: number, into: number) => {
      const file = open.get(descriptor);
      let total = 0;
      for (const piece of pieces(list, count)) {
        file?.write(piece);
        total += piece.length;
      }
      set(into, total);
      return ok;
    },
    fd_seek: (descriptor: number, offset: bigint, from: number, into: number) => {
      const file = open.get(descriptor);
      if (file === undefined) return badDescriptor;
      const base = from === 0 ? 0 : from === 1 ? file.position : file.length;
      file.position = Math.max(0, base + Number(offset));
      view().setBigUint64(into, BigInt(file.position), true);
      return ok;
    },
    proc_exit: (code: number) => {
      throw new Ended(code);
    },
  };
};
