/** Verifies webhook signatures independently of the sender, with Web Crypto. */

export interface Delivered {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly url: string;
}

/** How many of its signatures are by this secret. */
export const signaturesBy = async ({ headers, body }: Delivered, secret: string): Promise<number> => {
  const header = String(headers['x-service-signature']);
  const fields = header.split(',').map((field) => field.split('='));
  const times = fields.filter(([name]) => name === 't').map(([, value]) => value);
  const values = fields.filter(([name]) => name === 'v1').map(([, value]) => value);
  if (times.length !== 1 || times.length + values.length !== fields.length)
    throw new Error(`malformed: ${header}`);
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey(
    'raw',
    encoder.encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const signed = new Uint8Array([...encoder.encode(`${times[0]}.`), ...body]);
  const mac = [...new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  return values.filter((value) => value === mac).length;
};

export const timeOf = ({ headers }: Delivered): number =>
  Number(/^t=(\d+),/.exec(String(headers['x-service-signature']))?.[1]);

export const countOf = ({ headers }: Delivered): number =>
  String(headers['x-service-signature']).split('v1=').length - 1;
