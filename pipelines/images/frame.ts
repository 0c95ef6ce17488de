/** Frames stored images as one JSON object or as a stream of events. */
import type { Observer } from 'rxjs';
import { type ApiError, errorBody } from '../../src/errors.ts';
import { sizeText } from '../../src/images/pixel-size.ts';
import { asBuffer } from '../../src/media/base64.ts';
import { type Head, jsonTextReply } from '../../src/ports/exchange.ts';
import type { MediaData } from '../../src/ports/media.ts';
import { streamHead } from '../core/frame.ts';
import type { BodyChunk, FramedReply } from '../core/paced-bytes.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import { gather } from '../core/transforms.ts';
import type { ImageAccount } from './account.ts';
import type { StoredImage } from './drawn-images.ts';
import type { ImageTask } from './load-images.ts';

interface Drawing {
  readonly task: ImageTask;
  readonly account: Pick<ImageAccount, 'bill'>;
}

/** A failure within this time has its own status; after it the stream has started. */
const headDelay = 10_000;

export const frameImages = (headDelayMs = headDelay): Transform<StoredImage, FramedReply, Drawing> =>
  transform((next, drawing) =>
    drawing.task.stream ? new ImageEvents(next, drawing, headDelayMs) : frameJson.open(next, drawing),
  );

const jsonHeaders = { 'content-type': 'application/json' };

const frameJson = gather((images: readonly StoredImage[], drawing: Drawing) =>
  replyJson(drawing, [...images].sort(byIndex)),
);

const byIndex = (one: StoredImage, other: StoredImage): number => one.index - other.index;

const replyJson = (drawing: Drawing, images: readonly StoredImage[]): FramedReply => {
  if (images.every(({ url }) => url !== undefined)) return jsonTextReply(linksText(drawing, images));
  const parts = imageParts(drawing, images);
  const head: Head = { kind: 'head', status: 200, headers: jsonHeaders, length: lengthOf(parts) };
  return { kind: 'paced', head, chunks: chunksOf(parts) };
};

const eventHead: Head = { ...streamHead(':\n\n'), failure: (error) => failureEvent(error) };

/** A streamed response has one image. */
class ImageEvents extends Forwarder<StoredImage, FramedReply> {
  readonly #drawing: Drawing;
  readonly #images: StoredImage[] = [];
  readonly #clock: NodeJS.Timeout;
  #started = false;

  constructor(receiver: Observer<FramedReply>, drawing: Drawing, headDelayMs: number) {
    super(receiver);
    this.#drawing = drawing;
    this.#clock = setTimeout(() => this.#start(), headDelayMs);
  }

  next(image: StoredImage): void {
    this.#images.push(image);
  }

  override complete(): void {
    clearTimeout(this.#clock);
    const chunks = chunksOf(eventParts(this.#drawing, this.#images));
    this.receiver.next(
      this.#started ? { kind: 'paced', chunks } : { kind: 'paced', head: eventHead, chunks },
    );
    this.receiver.complete();
  }

  override error(error: unknown): void {
    clearTimeout(this.#clock);
    this.receiver.error(error);
  }

  onTeardown(): void {
    clearTimeout(this.#clock);
  }

  #start(): void {
    this.#started = true;
    this.receiver.next(eventHead);
  }
}

const now = (): number => Math.floor(Date.now() / 1000);

const linksText = (drawing: Drawing, images: readonly StoredImage[]): string => {
  const data = images.map((image) => `{"url":${JSON.stringify(image.url)},${itemText(image)}}`);
  return `{"created":${now()},"data":[${data.join()}],${aboutText(drawing, images)}}`;
};

/** Text in UTF-8, or an image to be written as base64. */
type Part = Buffer | MediaData;

const imageParts = (drawing: Drawing, images: readonly StoredImage[]): readonly Part[] => [
  Buffer.from(`{"created":${now()},"data":[`),
  ...images.flatMap((image, index) => [
    Buffer.from(`${index === 0 ? '' : ','}{"b64_json":"`),
    image.image,
    Buffer.from(`",${itemText(image)}}`),
  ]),
  Buffer.from(`],${aboutText(drawing, images)}}`),
];

/** Both `created` and `created_at`: clients differ in which they read. */
const eventParts = (drawing: Drawing, images: readonly StoredImage[]): readonly Part[] => {
  const created = now();
  return [
    Buffer.from('event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"'),
    ...images.flatMap((image) => [image.image, Buffer.from(`",${itemText(image)}`)]),
    Buffer.from(
      `,"created":${created},"created_at":${created},"quality":"auto",${aboutText(drawing, images)}}\n\n${done}`,
    ),
  ];
};

const done = 'data: [DONE]\n\n';

/** Clients recognise an error event by a code that is text. */
const failureEvent = (failure: ApiError): string => {
  const error = errorBody(failure);
  const event = { type: 'error', error: { ...error, code: String(error.code) } };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n${done}`;
};

const itemText = ({ mediaType, revisedPrompt }: StoredImage): string =>
  `"media_type":"${mediaType}"${revisedPrompt === undefined ? '' : `,"revised_prompt":${JSON.stringify(revisedPrompt)}`}`;

/** Amounts are written as the exact decimals they are. */
const aboutText = ({ task, account }: Drawing, images: readonly StoredImage[]): string => {
  const [first] = images;
  const { megapixels, cost } = account.bill();
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

function* chunksOf(parts: readonly Part[]): Generator<BodyChunk> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part;
    else yield* base64Chunks(part);
  }
}

/** Bytes that are encoded at a time, a multiple of three. */
const sliceBytes = 48 * 1024;

/** Base64 from the engine is sent as it is; bytes are encoded as fast as the client reads. */
function* base64Chunks(image: MediaData): Generator<BodyChunk> {
  if (image.held === 'bytes') {
    for (let at = 0; at < image.bytes.length; at += sliceBytes)
      yield image.bytes.subarray(at, at + sliceBytes).toString('base64');
    return;
  }
  const { base64 } = image;
  const length = (sliceBytes / 3) * 4;
  for (let at = 0; at < base64.length; at += length)
    yield typeof base64 === 'string'
      ? base64.slice(at, at + length)
      : asBuffer(base64.subarray(at, at + length));
}
