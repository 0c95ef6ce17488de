/** Checks an image server: one image, two at once, an edit, and a bad request. */
import { createPictures } from '../images/pictures.ts';
import { plainMedia } from '../media/media-data.ts';
import { mediaTypeOf } from '../media/media-type.ts';
import type { Drawn, ImageCall, InputImage } from '../ports/engines/image.ts';
import { checkBadRequest } from './every-kind.ts';
import { attempt, type Finding, Note } from './finding.ts';
import { samplePicture } from './sample-picture.ts';
import type { Target } from './target.ts';

const mostPixels = 2 ** 26;

export async function* checkImages(target: Target, size: string): AsyncGenerator<Finding> {
  const [width = 0, height = 0] = size.split('x').map(Number);
  const call: ImageCall = {
    prompt: 'A red lighthouse on a cliff, in flat colours',
    n: 1,
    width,
    height,
    seed: undefined,
    steps: undefined,
    guidanceScale: undefined,
    negativePrompt: undefined,
    outputFormat: 'png',
    outputCompression: undefined,
    background: 'auto',
    references: [],
    mask: undefined,
  };
  const draw = (more: Partial<ImageCall>) =>
    target.call((engine, flow) => engine.image?.(target.model, { ...call, ...more }, flow));
  yield await attempt('an image', async () => {
    const [drawn] = await draw({});
    return described(drawn, size, target.signal);
  });
  yield await attempt('two images', async () => {
    const drawn = await draw({ n: 2 }).catch((cause: unknown) => {
      throw new Note('Not in one request: set fan_out_n in the row of the engine', { cause });
    });
    for (const image of drawn) await described(image, size, target.signal);
    if (drawn[0]?.image.bytes.equals(drawn[1]?.image.bytes ?? Buffer.alloc(0)))
      throw new Note('Both are the same image');
    return 'two different images';
  });
  yield await attempt('an edit', async () => {
    const reference = await inputImage(target);
    const [drawn] = await draw({ references: [reference] }).catch((cause: unknown) => {
      throw new Note('Not taken: the model makes images from prompts only', { cause });
    });
    return described(drawn, size, target.signal);
  });
  if (target.wire.images !== undefined)
    yield await checkBadRequest(target, target.wire.images.encode(target.model, call));
}

/** Decoded fully. */
const described = async (drawn: Drawn | undefined, size: string, signal: AbortSignal): Promise<string> => {
  if (drawn === undefined) throw new Error('There is no image');
  const { bytes } = drawn.image;
  const found = await createPictures()
    .verify(bytes, mostPixels, signal)
    .catch((cause: unknown) => {
      throw new Error(`The image of ${bytes.length} bytes cannot be decoded`, { cause });
    });
  const type = mediaTypeOf(bytes.subarray(0, 64), 'an unknown type');
  const seen = `${type} of ${found.width}x${found.height}`;
  if (type !== 'image/png') throw new Note(`${seen} came where image/png was requested`);
  if (`${found.width}x${found.height}` !== size) throw new Note(`${seen} came where ${size} was requested`);
  return seen;
};

const inputImage = async ({ codec }: Target): Promise<InputImage> => {
  const { bytes, width, height } = await samplePicture(codec);
  const media = plainMedia(bytes, 'image/png');
  return { mediaType: media.mediaType, size: media.size, bytes, base64: media.base64, width, height };
};
