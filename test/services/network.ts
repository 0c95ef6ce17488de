/** A proxy in front of a service: once cut, connections break and new ones are refused. */
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../eventually.ts';

export const openNetwork = async (target: number) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const service = connect(target, '127.0.0.1');
    sockets.add(socket);
    const end = () => {
      sockets.delete(socket);
      socket.destroy();
      service.destroy();
    };
    for (const each of [socket, service]) {
      each.setNoDelay(true);
      each.on('error', end).on('close', end);
    }
    socket.pipe(service).pipe(socket);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const { port } = server.address() as { port: number };
  let up = true;
  const cut = () => {
    up = false;
    server.close();
    for (const socket of [...sockets]) socket.destroy();
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    get up() {
      return up;
    },
    cut,
    restore: async (connections: number) => {
      await listen(port);
      up = true;
      await eventually(() => sockets.size >= connections, 'all connections');
      // Each has still to greet the server and to subscribe.
      await delay(30);
    },
    close: async () => {
      if (server.listening) cut();
    },
  };
};
