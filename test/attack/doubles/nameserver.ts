/** A nameserver that never answers: queries arrive, and nothing goes back. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface Nameserver {
  readonly queries: number;
  close(): Promise<void>;
}

/** `address` is `127.…:port`. */
export const startNameserver = async (address: string): Promise<Nameserver> => {
  const [host = '', port = ''] = address.split(':');
  const socket = createSocket('udp4');
  let queries = 0;
  socket.on('message', () => queries++);
  socket.bind(Number(port), host);
  await once(socket, 'listening');
  return {
    get queries() {
      return queries;
    },
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
};
