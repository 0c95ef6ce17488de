/** An engine whose answer to a chat is one long text, sent a byte at a time. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

export interface DripEngine {
  /** Sent in all. */
  readonly bytes: number;
  close(): Promise<void>;
}

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n';
const opening = '{"id":"drip","choices":[{"index":0,"message":{"role":"assistant","content":"';
/** Bytes of one answer in a second: a faster one arrives in larger pieces. */
const rate = 10_000;

export const startDripEngine = async (port: number, signal: AbortSignal): Promise<DripEngine> => {
  let bytes = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(head + opening);
      sockets.add(socket);
    });
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  /** In turn, so that the bytes of one answer are apart. */
  const drip = async (): Promise<void> => {
    const begun = performance.now();
    for (let round = 0; !signal.aborted; round++) {
      if (round >= ((performance.now() - begun) * rate) / 1000) await delay(1);
      else await turn();
      for (const socket of sockets) if (socket.write('a')) bytes++;
    }
  };
  void drip();
  return {
    get bytes() {
      return bytes;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
