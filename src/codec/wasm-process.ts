/**
 * Script of a process that is ffmpeg in WebAssembly: the first two arguments are its input and output file or empty.
 *
 * The module can call nothing but the functions below: it has its three pipes and those two files, no others, no
 * network and no other process. Reads and writes block, as they do in a native program.
 */
import { fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The types of Node.js do not have it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (program: object, imports: object) => WasmInstance;
};

interface WasmInstance {
  /** By the names that this version of the package has. */
  readonly exports: { readonly Da: () => number; readonly Ea: (top: number) => void };
}

interface Stream {
  position: number;
}

interface StreamOperations {
  llseek?(stream: Stream, offset: number, whence: number): number;
  read(stream: Stream, buffer: Uint8Array, offset: number, length: number, position?: number): number;
  write(stream: Stream, buffer: Uint8Array, offset: number, length: number, position?: number): number;
}

interface FileNode {
  node_ops: { getattr(node: FileNode): object; setattr(node: FileNode, change: object): void };
  stream_ops: StreamOperations;
}

/** Its file system in memory. */
interface MemoryFiles {
  readonly ErrnoError: new (errno: number) => Error;
  makedev(major: number, minor: number): number;
  registerDevice(id: number, operations: StreamOperations): void;
  mkdev(path: string, mode: number, id: number): void;
  mkdirTree(path: string): void;
  create(path: string): FileNode;
  getStream(descriptor: number): object;
  close(stream: object): void;
  open(path: string, flags: number): void;
}

interface Core {
  readonly FS: MemoryFiles;
  _malloc(length: number): number;
  /** Returns the exit code. */
  exec(...words: readonly string[]): number;
}

type CreateCore = (module: {
  locateFile(name: string): string;
  instantiateWasm(imports: object, done: (instance: WasmInstance) => void): object;
}) => Promise<Core>;

// For lists of processes.
process.title = 'ffmpeg';
const [, , input = '', output = '', ...words] = process.argv;

/** Numbers of its C library, not of this system. */
const errors: Readonly<Record<string, number>> = { EPIPE: 64, ENOSPC: 51, EFBIG: 22 };
const anyError = 29;
const pauseMs = 2;
const nobody = new Int32Array(new SharedArrayBuffer(4));

/** A pipe that does not block is polled. */
const retried = (files: MemoryFiles, transfer: () => number): number => {
  for (;;)
    try {
      return transfer();
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw new files.ErrnoError(errors[code] ?? anyError);
      Atomics.wait(nobody, 0, 0, pauseMs);
    }
};

const operations = (files: MemoryFiles, descriptor: number): StreamOperations => ({
  read: (_stream, buffer, offset, length, position) =>
    retried(files, () => readSync(descriptor, buffer, offset, length, position ?? null)),
  write: (_stream, buffer, offset, length, position) =>
    retried(files, () => writeSync(descriptor, buffer, offset, length, position ?? null)),
});

const openPipes = (files: MemoryFiles): void => {
  const descriptors = [0, 1, 2];
  for (const descriptor of descriptors) {
    const id = files.makedev(64, descriptor);
    const { read, write } = operations(files, descriptor);
    files.registerDevice(id, {
      read: (stream, buffer, offset, length) => read(stream, buffer, offset, length),
      write: (stream, buffer, offset, length) => write(stream, buffer, offset, length),
    });
    files.mkdev(`/dev/pipe${descriptor}`, 0o600, id);
    files.close(files.getStream(descriptor));
  }
  // The lowest free number is taken.
  for (const descriptor of descriptors) files.open(`/dev/pipe${descriptor}`, descriptor === 0 ? 0 : 1);
};

const openFile = (files: MemoryFiles, path: string, flags: 'r' | 'w+'): void => {
  const descriptor = openSync(path, flags, 0o600);
  const size = (): number => fstatSync(descriptor).size;
  files.mkdirTree(dirname(path));
  const node = files.create(path);
  const own = node.node_ops;
  node.node_ops = {
    ...own,
    getattr: (one) => ({ ...own.getattr(one), size: size() }),
    // It was truncated when it was opened.
    setattr: () => undefined,
  };
  node.stream_ops = {
    ...operations(files, descriptor),
    llseek: (stream, offset, whence) => offset + (whence === 1 ? stream.position : whence === 2 ? size() : 0),
  };
};

/** Its own stack has 64 KiB, in which the encoder of Opus does not fit. */
const stackBytes = 8 * 1024 * 1024;
let moveStack: WasmInstance['exports'] | undefined;

const giveStack = ({ _malloc }: Core): void => {
  const top = (_malloc(stackBytes) + stackBytes) & ~15;
  moveStack?.Ea(top);
  if (moveStack?.Da() !== top) throw new Error('@ffmpeg/core is not the version that it should be');
};

// The module was built for workers of browsers.
Object.assign(globalThis, { self: { location: { href: '' } }, WebSocket: undefined });
const { default: createCore } = (await import('@ffmpeg/core' as string)) as { default: CreateCore };
const core = await createCore({
  locateFile: (name) => name,
  instantiateWasm: (imports, done) => {
    const bytes = readFileSync(fileURLToPath(import.meta.resolve('@ffmpeg/core/wasm')));
    const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports);
    moveStack = instance.exports;
    done(instance);
    return instance.exports;
  },
});
giveStack(core);
openPipes(core.FS);
if (input !== '') openFile(core.FS, input, 'r');
if (output !== '') openFile(core.FS, output, 'w+');
process.exit(core.exec(...words) === 0 ? 0 : 1);
