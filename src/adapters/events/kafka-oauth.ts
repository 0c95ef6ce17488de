/** SASL OAUTHBEARER for the Kafka client: shows a token, and reports why the broker refused it. */
import type { Mechanism } from 'kafkajs';
import { type TokenSource, tokensFrom } from './kafka-tokens.ts';

/**
 * A broker that refuses a token says so in a response that is otherwise a success. The library's own mechanism does not
 * read it, and goes on with a connection that is of no use.
 */
export const oauthBearer = (source: TokenSource): Mechanism => {
  const nextToken = tokensFrom(source);
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: ({ saslAuthenticate }) => ({
      authenticate: async () => {
        const { value } = await nextToken();
        const refusal = await saslAuthenticate({
          request: { encode: () => sized(`n,,\u0001auth=Bearer ${value}\u0001\u0001`) },
          response: { decode: (bytes) => bytes, parse: (bytes) => bytes.toString('utf8', 4) },
        });
        if (refusal) throw new Error(`the broker refused the OAuth token: ${statusOf(refusal)}`);
      },
    }),
  };
};

/** As the library wants it: after its length. */
const sized = (text: string): Buffer => {
  const bytes = Buffer.alloc(4 + Buffer.byteLength(text));
  bytes.writeInt32BE(bytes.length - 4);
  bytes.write(text, 4);
  return bytes;
};

const statusOf = (refusal: string): string => /"status":"(\w{1,50})"/.exec(refusal)?.[1] ?? 'no reason given';
