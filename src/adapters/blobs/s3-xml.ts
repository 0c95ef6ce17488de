/** What is read of the XML that S3 and STS send. */

/** Rejects beyond so many bytes. */
export const readWords = async (body: AsyncIterable<Buffer>, most: number): Promise<string> => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > most) throw new Error(`the answer is longer than ${most} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size).toString('utf8');
};

/** The text of the first element of that name. */
export const element = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

/** The service's own code and words. */
export const reasonIn = (xml: string): string =>
  `${element(xml, 'Code') ?? ''} ${element(xml, 'Message') ?? ''}`.trim();
