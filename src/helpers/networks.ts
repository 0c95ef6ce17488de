/** Ranges of IP addresses in CIDR notation. */
import { BlockList, isIP } from 'node:net';

export interface Networks {
  includes(address: string): boolean;
}

/** Throws a sentence that names the first one that is no network. A single address is one, too. */
export const parseNetworks = (list: readonly string[]): Networks => {
  const ranges = new BlockList();
  for (const network of list) {
    const [address = '', bits, ...rest] = network.split('/');
    const family = familyOf(address);
    const most = family === 'ipv4' ? 32 : 128;
    const prefix = bits === undefined ? most : /^[0-9]{1,3}$/.test(bits) ? Number(bits) : -1;
    if (family === undefined || rest.length > 0 || prefix < 0 || prefix > most)
      throw new Error(`"${network}" is no network such as 10.0.0.0/8 or 2001:db8::/32`);
    ranges.addSubnet(address, prefix, family);
  }
  return {
    includes: (address) => {
      const family = familyOf(address);
      return family !== undefined && ranges.check(address, family);
    },
  };
};

const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined =>
  (({ 4: 'ipv4', 6: 'ipv6' }) as const)[isIP(address)];
