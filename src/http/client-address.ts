/** The address that a request comes from: that of its connection, or what trusted proxies say. */
import type { Networks } from '../helpers/networks.ts';
import type { Channel } from './servers/channel.ts';

/**
 * Each proxy appends the address that it got the request from to `x-forwarded-for`. So it is read from its end, for as
 * long as the one who wrote it is trusted: what a client claims comes before that.
 */
export const clientAddress = (channel: Pick<Channel, 'address' | 'header'>, proxies: Networks): string => {
  let { address } = channel;
  const hops = channel.header('x-forwarded-for').split(',').reverse();
  for (const hop of hops) {
    if (!proxies.includes(address) || hop.trim() === '') break;
    address = hop.trim();
  }
  return address;
};
