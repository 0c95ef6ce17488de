/** A TCP proxy in front of a server that closes connections after so many bytes of what the server sends. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  /** Base address, ending in `/v1`. */
  readonly url: string;
  /** Bytes of the next response that are passed on; of all others everything is. */
  cutAfter: number | undefined;
  /** Bytes of the latest response. */
  readonly passed: number;
  close(): Promise<void>;
}

export const startCuttingProxy = async (target: string): Promise<CuttingProxy> => {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let left: number | undefined;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => {
      left = proxy.cutAfter ?? Number.POSITIVE_INFINITY;
      proxy.cutAfter = undefined;
      proxy.passed = 0;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      const passed = bytes.subarray(0, left);
      left = (left ?? 0) - passed.length;
      proxy.passed += passed.length;
      if (passed.length > 0) client.write(passed);
      // Closed, not reset: what was passed on arrives.
      if (left === 0) client.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    cutAfter: undefined as number | undefined,
    passed: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
};
