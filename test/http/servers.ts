/** The servers that an edge can run on, and why one cannot run here. */

import { defaultEdgeLimits } from '../../src/http/limits.ts';
import { loadUws } from '../../src/http/servers/uws.ts';

const whyNotUws = (): string | false => {
  try {
    loadUws(defaultEdgeLimits);
    return false;
  } catch (error) {
    return `uWebSockets.js does not load on this machine: ${error}`;
  }
};

export const servers = [
  { name: 'uws', skip: whyNotUws() },
  { name: 'node', skip: false },
] as const;
