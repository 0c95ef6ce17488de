/** A body, the time and the secrets that sign now in; the value of the signature header out. */
import { createHmac } from 'node:crypto';

/** `t=<unix seconds>,v1=<hex>`, a `v1` for each secret, over `<t>.<body>` keyed with the whole secret, prefix and all. */
export const signatureOf = (body: string, seconds: number, secrets: readonly string[]): string =>
  [
    `t=${seconds}`,
    ...secrets.map(
      (secret) => `v1=${createHmac('sha256', secret).update(`${seconds}.${body}`, 'utf8').digest('hex')}`,
    ),
  ].join(',');
