/** Kept images in, in any order; the answer out when they have all come: one JSON text, a run of its pieces, or a stream of events. */
import { Observable, type OperatorFunction } from 'rxjs';
import { asApiError, errorBody } from '../../src/errors.ts';
import { sizeText } from '../../src/images/pixel-size.ts';
import { asBuffer } from '../../src/media/base64.ts';
import { type Exchange, type Head, jsonTextReply, type Reply } from '../../src/ports/exchange.ts';
import type { MediaData } from '../../src/ports/media.ts';
import { type BodyPiece, PacedBytes } from '../core/paced-bytes.ts';
import { streamHead } from '../core/stream-head.ts';
import type { KeptImage } from './keep.ts';
import { imageBill } from './meter.ts';
import type { ImageTask } from './read-inputs.ts';

const jsonHeaders = { 'content-type': 'application/json' };
const eventHead = streamHead(':\n\n');

/** A failure within this time has its own status; one that comes later finds the stream begun. */
const patience = 10_000;

export const frameImages =
  (exchange: Exchange, task: ImageTask, patienceMs = patience): OperatorFunction<KeptImage, Reply> =>
  (source) =>
    new Observable((subscriber) => {
      const images: KeptImage[] = [];
      let paced: PacedBytes | undefined;
      let hasBegun = false;

      const begin = (head: Head): void => {
        if (!hasBegun) subscriber.next(head);
        hasBegun = true;
      };
      const send = (head: Head, parts: readonly Part[]): void => {
        begin(head);
        paced = new PacedBytes(piecesOf(parts), exchange.backpressure, subscriber);
        paced.start();
      };
      const clock = task.stream ? setTimeout(begin, patienceMs, eventHead) : undefined;

      const engine = source.subscribe({
        next: (image) => images.push(image),
        complete: () => {
          clearTimeout(clock);
          images.sort((one, other) => one.index - other.index);
          if (task.stream) send(eventHead, eventParts(task, images));
          else if (images.every(({ url }) => url !== undefined)) {
            subscriber.next(jsonTextReply(linksText(task, images)));
            subscriber.complete();
          } else {
            const parts = answerParts(task, images);
            send({ kind: 'head', status: 200, headers: jsonHeaders, length: lengthOf(parts) }, parts);
          }
        },
        error: (error) => {
          clearTimeout(clock);
          if (hasBegun) send(eventHead, [failureEvent(error)]);
          else subscriber.error(error);
        },
      });
      return () => {
        clearTimeout(clock);
        engine.unsubscribe();
        paced?.stop();
      };
    });

const now = (): number => Math.floor(Date.now() / 1000);

const linksText = (task: ImageTask, images: readonly KeptImage[]): string => {
  const data = images.map((image) => `{"url":${JSON.stringify(image.url)},${itemText(image)}}`);
  return `{"created":${now()},"data":[${data.join()}],${aboutText(task, images)}}`;
};

/** Text in UTF-8, or an image whose base64 stands there. */
type Part = Buffer | MediaData;

const answerParts = (task: ImageTask, images: readonly KeptImage[]): readonly Part[] => [
  Buffer.from(`{"created":${now()},"data":[`),
  ...images.flatMap((image, index) => [
    Buffer.from(`${index === 0 ? '' : ','}{"b64_json":"`),
    image.image,
    Buffer.from(`",${itemText(image)}}`),
  ]),
  Buffer.from(`],${aboutText(task, images)}}`),
];

/** Both `created`: one client reads the one, another the other. */
const eventParts = (task: ImageTask, images: readonly KeptImage[]): readonly Part[] => {
  const created = now();
  return [
    Buffer.from('event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"'),
    ...images.flatMap((image) => [image.image, Buffer.from(`",${itemText(image)}`)]),
    Buffer.from(
      `,"created":${created},"created_at":${created},"quality":"auto",${aboutText(task, images)}}\n\n${done}`,
    ),
  ];
};

const done = 'data: [DONE]\n\n';

/** Clients know an error event by a code that is text. */
const failureEvent = (thrown: unknown): Buffer => {
  const error = errorBody(asApiError(thrown));
  const event = { type: 'error', error: { ...error, code: String(error.code) } };
  return Buffer.from(`event: error\ndata: ${JSON.stringify(event)}\n\n${done}`);
};

const itemText = ({ mediaType, revisedPrompt }: KeptImage): string =>
  `"media_type":"${mediaType}"${revisedPrompt === undefined ? '' : `,"revised_prompt":${JSON.stringify(revisedPrompt)}`}`;

/** Amounts are written as the exact decimals they are. */
const aboutText = (task: ImageTask, images: readonly KeptImage[]): string => {
  const [first] = images;
  const { megapixels, cost } = imageBill(task, images);
  const size = sizeText(first ?? task.call);
  const format = first?.mediaType.slice('image/'.length) ?? task.call.outputFormat;
  const background = images.every(({ isTransparent }) => isTransparent) ? 'transparent' : 'opaque';
  return (
    `"size":"${size}","output_format":"${format}","background":"${background}",` +
    '"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"input_tokens":0,"output_tokens":0,' +
    `"input_tokens_details":{"text_tokens":0,"image_tokens":0},"cost":${cost},"megapixels":${megapixels}}`
  );
};

const lengthOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + (Buffer.isBuffer(part) ? part.length : base64Length(part)), 0);

const base64Length = (image: MediaData): number =>
  image.held === 'bytes' ? Math.ceil(image.size / 3) * 4 : image.base64.length;

function* piecesOf(parts: readonly Part[]): Generator<BodyPiece> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part;
    else yield* base64Pieces(part);
  }
}

/** Bytes of a piece, a multiple of three. */
const piece = 48 * 1024;

/** Base64 that the engine gave goes as it is; bytes are encoded as the reader takes them. */
function* base64Pieces(image: MediaData): Generator<BodyPiece> {
  if (image.held === 'bytes') {
    for (let at = 0; at < image.bytes.length; at += piece)
      yield image.bytes.subarray(at, at + piece).toString('base64');
    return;
  }
  const { base64 } = image;
  const length = (piece / 3) * 4;
  for (let at = 0; at < base64.length; at += length)
    yield typeof base64 === 'string'
      ? base64.slice(at, at + length)
      : asBuffer(base64.subarray(at, at + length));
}
