/** Attacks by request bodies: tiny pieces, many large ones at once, slow ones. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { headOf, Outcomes, open, untilAborted, write } from '../requests.ts';
import type { Row, Target } from '../row.ts';

const path = '/chat/completions';
const opening = '{"model":"sluice/chat","messages":[{"role":"user","content":"';
const mebibyte = 1024 * 1024;
const large = 120 * mebibyte;

/** Bytes on the wire in a second: what one client's uplink carries. */
const wireRate = 4 * mebibyte;
const burstMs = 50;
const chunk = '1\r\na\r\n';
const burst = Buffer.from(chunk.repeat(Math.floor((wireRate * burstMs) / 1000 / chunk.length)));

/** One connection; a new one when the gateway closes it. */
const oneByteChunks = async (target: Target) => {
  const outcomes = new Outcomes();
  while (!target.signal.aborted) {
    const socket = open(target);
    await write(socket, headOf(target, path, 'transfer-encoding: chunked'));
    await write(socket, `${opening.length.toString(16)}\r\n${opening}\r\n`);
    while (!target.signal.aborted && (await write(socket, burst))) {
      outcomes.add('bytes', burst.length);
      await delay(burstMs);
    }
    outcomes.add(socket.writable ? 'held' : 'cut');
    socket.destroy();
    await delay(burstMs);
  }
  return outcomes.report;
};

const oneByteRow = (edge: 'uws' | 'node'): Row => ({
  name: `one-byte-chunks-${edge}`,
  title: `a chunked body of 1-byte chunks at 4 MiB/s on one connection (${edge})`,
  victim: 'chat',
  maxRss: 384,
  gateway: { environment: { SLUICE_EDGE: edge } },
  attack: oneByteChunks,
});

const connections = 25;

/** Bodies are written up to their last kilobyte, which never comes. */
const heldBodies: Row = {
  name: 'held-bodies',
  title: `${connections} connections, each with 120 MiB of a body that never ends`,
  victim: 'chat',
  maxRss: 1024,
  attack: async (target) => {
    const outcomes = new Outcomes();
    const piece = Buffer.alloc(256 * 1024, 'a');
    const send = async (socket: Socket): Promise<void> => {
      await write(socket, headOf(target, path, `content-length: ${large}`) + opening);
      let sent = opening.length;
      while (!target.signal.aborted && sent + piece.length < large && (await write(socket, piece)))
        sent += piece.length;
      outcomes.add('MiB', Math.round(sent / mebibyte));
    };
    const sockets = Array.from({ length: connections }, () => open(target));
    await Promise.all(sockets.map(send));
    await untilAborted(target.signal);
    for (const socket of sockets) outcomes.add(socket.writable ? 'held' : 'cut');
    return outcomes.report;
  },
};

const drips = 60;

/** A fast start keeps the average rate of a body high for hours. */
const slowBodies: Row = {
  name: 'slow-bodies',
  title: `${drips} connections, 1 MiB of a body at once, then a byte a second`,
  victim: 'chat',
  maxRss: 384,
  // Longer than the silence that a body may have.
  seconds: 45,
  attack: async (target) => {
    const outcomes = new Outcomes();
    const sockets = Array.from({ length: drips }, () => open(target));
    for (const socket of sockets) socket.write(headOf(target, path, `content-length: ${large}`) + opening);
    // The rate of a body may be counted from some time after its first bytes.
    await delay(2000);
    await Promise.all(sockets.map((socket) => write(socket, 'a'.repeat(mebibyte))));
    while (!target.signal.aborted) {
      for (const socket of sockets) if (socket.writable) socket.write('a');
      await delay(1000);
    }
    for (const socket of sockets) outcomes.add(socket.writable ? 'held' : 'cut');
    return outcomes.report;
  },
  check: ({ held = 0 }) =>
    held > 0 ? `${held} of ${drips} bodies of a byte a second were still read` : undefined,
};

/** Each byte in a segment of its own, just above the slowest rate that is allowed. */
const clientDrip: Row = {
  name: 'client-drip',
  title: `${connections} connections, each with a body that comes a byte at a time, 2000 a second`,
  victim: 'chat',
  maxRss: 384,
  attack: async (target) => {
    const outcomes = new Outcomes();
    const sockets = Array.from({ length: connections }, () => open(target));
    for (const socket of sockets) socket.write(headOf(target, path, 'transfer-encoding: chunked'));
    const begun = performance.now();
    for (let sent = 0; !target.signal.aborted; ) {
      const due = Math.floor((performance.now() - begun) * 2);
      for (; sent < due && !target.signal.aborted; sent++)
        for (const socket of sockets) if (socket.writable) socket.write(chunk[sent % chunk.length] ?? '');
      await delay(1);
    }
    for (const socket of sockets) outcomes.add(socket.writable ? 'held' : 'cut');
    return outcomes.report;
  },
};

export const bodyRows: readonly Row[] = [
  oneByteRow('uws'),
  oneByteRow('node'),
  heldBodies,
  slowBodies,
  clientDrip,
];
