/** A DNS server on loopback that answers A questions from a table, and some not at all. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface NameServer {
  readonly address: string;
  /** Names in the order of their questions, with the type of record. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** Of a name: its IPv4 addresses and the seconds they hold; or that no answer comes. Others do not exist. */
export type Zone = Readonly<
  Record<string, { readonly a: readonly string[]; readonly ttl: number } | 'silent'>
>;

const types: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' };

export const startNameServer = async (zone: Zone): Promise<NameServer> => {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question: Buffer, { address, port }: RemoteInfo) => {
    const { name, type, end } = readQuestion(question);
    asked.push(`${types[type] ?? type} ${name}`);
    const record = zone[name];
    if (record === 'silent') return;
    const found = record === undefined || type !== 1 ? [] : record.a;
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(record === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(found.length, 6);
    head.fill(0, 8);
    const answers = found.map((ip) => answer(ip, record === undefined ? 0 : record.ttl));
    socket.send(Buffer.concat([head, question.subarray(12, end), ...answers]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
};

const readQuestion = (message: Buffer) => {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
};

/** An A record for the name of the question. */
const answer = (ip: string, ttl: number): Buffer => {
  const record = Buffer.alloc(16);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(1, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttl, 6);
  record.writeUInt16BE(4, 10);
  Buffer.from(ip.split('.').map(Number)).copy(record, 12);
  return record;
};
