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
  const system = new System(args, files);
  const instance = new WebAssembly.Instance(program, { wasi_snapshot_preview1: system.calls() });
  const exports = instance.exports as Exports;
  system.memory = exports.memory;
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
class System {
  memory: Exports['memory'] = { buffer: new ArrayBuffer(0) };
  readonly #args: readonly Uint8Array[];
  readonly #files: Map<string, MemoryFile>;
  readonly #open = new Map<number, MemoryFile>();
  #next = folder + 1;

  constructor(args: readonly string[], files: Map<string, MemoryFile>) {
    this.#args = args.map((text) => Buffer.from(`${text}\0`));
    this.#files = files;
  }

  calls(): Record<string, (...values: never[]) => unknown> {
    return {
      args_sizes_get: (count: number, size: number) => {
        this.#set(count, this.#args.length);
        this.#set(
          size,
          this.#args.reduce((sum, text) => sum + text.length, 0),
        );
        return ok;
      },
      args_get: (pointers: number, texts: number) => {
        let at = texts;
        for (const [index, text] of this.#args.entries()) {
          this.#set(pointers + index * 4, at);
          this.#bytes(at, text.length).set(text);
          at += text.length;
        }
        return ok;
      },
      // A constant time makes the output deterministic.
      clock_time_get: (_clock: number, _precision: bigint, time: number) => {
        this.#view().setBigUint64(time, 0n, true);
        return ok;
      },
      fd_prestat_get: (descriptor: number, into: number) => {
        if (descriptor !== folder) return badDescriptor;
        this.#set(into, 0);
        this.#set(into + 4, folderName.length);
        return ok;
      },
      fd_prestat_dir_name: (_descriptor: number, into: number, length: number) => {
        this.#bytes(into, length).set(Buffer.from(folderName));
        return ok;
      },
      fd_fdstat_get: (descriptor: number, into: number) => {
        const view = this.#view();
        view.setUint32(into, descriptor < folder ? 2 : descriptor === folder ? 3 : 4, true);
        view.setBigUint64(into + 8, 0xffff_ffff_ffff_ffffn, true);
        view.setBigUint64(into + 16, 0xffff_ffff_ffff_ffffn, true);
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
        const name = Buffer.from(this.#bytes(path, length)).toString();
        const isNew = (flags & create) !== 0;
        if (!isNew && !this.#files.has(name)) return noEntry;
        const file = isNew ? new MemoryFile(undefined, 0) : this.#files.get(name);
        if (file === undefined) return noEntry;
        file.position = 0;
        this.#files.set(name, file);
        this.#open.set(this.#next, file);
        this.#set(into, this.#next++);
        return ok;
      },
      fd_close: (descriptor: number) => {
        this.#open.delete(descriptor);
        return ok;
      },
      fd_read: (descriptor: number, pieces: number, count: number, into: number) => {
        const file = this.#open.get(descriptor);
        let total = 0;
        for (const piece of this.#pieces(pieces, count)) total += file?.read(piece) ?? 0;
        this.#set(into, total);
        return ok;
      },
      fd_write: (descriptor: number, pieces: number, count: number, into: number) => {
        const file = this.#open.get(descriptor);
        let total = 0;
        for (const piece of this.#pieces(pieces, count)) {
          file?.write(piece);
          total += piece.length;
        }
        this.#set(into, total);
        return ok;
      },
      fd_seek: (descriptor: number, offset: bigint, from: number, into: number) => {
        const file = this.#open.get(descriptor);
        if (file === undefined) return badDescriptor;
        const base = from === 0 ? 0 : from === 1 ? file.position : file.length;
        file.position = Math.max(0, base + Number(offset));
        this.#view().setBigUint64(into, BigInt(file.position), true);
        return ok;
      },
      proc_exit: (code: number) => {
        throw new Ended(code);
      },
    };
  }

  *#pieces(pointers: number, count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index++) {
      const view = this.#view();
      const at = pointers + index * 8;
      yield this.#bytes(view.getUint32(at, true), view.getUint32(at + 4, true));
    }
  }

  #view(): DataView {
    return new DataView(this.memory.buffer);
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, at, length);
  }

  #set(at: number, value: number): void {
    this.#view().setUint32(at, value, true);
  }
}
