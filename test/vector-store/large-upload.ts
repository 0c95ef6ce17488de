/** Starts a gateway process and streams a file of any size to it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export const key = 'sk-test-0123456789abcdef0123456789abcdef';

/** Bytes: of the process, and of the buffers in it. */
export interface Memory {
  readonly resident: number;
  readonly buffers: number;
}

export interface GatewayProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** The most since it was last asked, and now. */
  memory(): Promise<{ readonly peak: Memory; readonly now: Memory }>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** `node` are options of the program that runs it, `env` settings of its own. */
export const startProcess = async (
  folder: string,
  node: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> => {
  const child = fork(new URL('./gateway-process.ts', import.meta.url), {
    execArgv: ['--import', 'tsx', ...node],
    env: {
      ...process.env,
      PORT: '0',
      SLUICE_DATA: folder,
      SLUICE_BOOTSTRAP_KEY: key,
      SLUICE_DRAIN_SECONDS: '1',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [url] = (await once(child, 'message')) as [string];
  return {
    url,
    child,
    memory: async () => {
      const answered = once(child, 'message');
      child.send('memory');
      const [memory] = (await answered) as [{ peak: Memory; now: Memory }];
      return memory;
    },
    end: async (signal) => {
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
  };
};

const boundary = 'sluice-large-upload';
const subjects =
  'tide moon harbour bread yeast oven gateway stream token river mountain cloud signal lantern'.split(' ');

/** Lines of words in some order, as large as asked for, to the byte. */
function* lines(bytes: number): Generator<Buffer> {
  let state = 1;
  const word = (): string => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return subjects[(state >>> 16) % subjects.length] ?? '';
  };
  for (let left = bytes; left > 0; ) {
    let piece = '';
    while (piece.length < 64 * 1024) piece += `${Array.from({ length: 12 }, word).join(' ')}.\n`;
    yield Buffer.from(piece.slice(0, left));
    left -= piece.length;
  }
}

const lookEvery = 4 * 1024 * 1024;

export interface Uploaded {
  readonly status: number;
  readonly body: {
    readonly id: string;
    readonly status: string;
    readonly error?: { readonly message: string };
  };
}

/** Chunked: the gateway does not know the length beforehand. `look` is called, and waited for, every few megabytes. */
export const uploadLines = async (
  url: string,
  store: string,
  bytes: number,
  look: () => Promise<void> | void = () => undefined,
): Promise<Uploaded> => {
  const outgoing = request(`${url}/vector_store/${store}/files`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'transfer-encoding': 'chunked',
    },
  });
  const answered = once(outgoing, 'response');
  const form = async function* (): AsyncGenerator<Buffer> {
    let sent = 0;
    yield Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="lines.txt"\r\ncontent-type: text/plain\r\n\r\n`,
    );
    for (const piece of lines(bytes)) {
      yield piece;
      sent += piece.length;
      if (sent >= lookEvery) {
        sent = 0;
        await look();
      }
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  };
  // An early answer closes the connection: what could not be sent then is of no matter.
  const sent = pipeline(Readable.from(form()), outgoing).catch((error: unknown) => error);
  const [response] = (await answered) as [Readable & { statusCode: number }];
  let text = '';
  for await (const piece of response) text += String(piece);
  await sent;
  return { status: response.statusCode, body: JSON.parse(text) };
};
