/** Writes the form that vLLM-Omni takes at `/videos`. */
import type { Model } from '../../../../schemas/catalog.ts';
import { asBuffer } from '../../../media/base64.ts';
import { RenderError, type RenderInput, type VideoCall } from '../../../ports/engines/render.ts';
import type { Base64 } from '../../../ports/media.ts';
import { type FormFile, formBody } from '../shared/multipart.ts';

/** Its `quality` means something else than our tiers: they are sent as the steps they stand for. */
export const videoForm = (
  model: Model,
  call: VideoCall,
  media: readonly Base64[],
): ReturnType<typeof formBody> => {
  const takes = (name: string): boolean => model.supported_parameters.includes(name);
  const fps = model.capabilities?.video?.fps;
  const fields: Record<string, string> = {
    model: model.served_as,
    prompt: call.prompt,
    seconds: String(call.seconds),
    size: `${call.width}x${call.height}`,
    num_inference_steps: String(call.steps),
  };
  if (fps !== undefined) fields.fps = String(fps);
  if (takes('seed')) fields.seed = String(call.seed);
  if (takes('generate_audio')) fields.generate_sound = String(call.audio);
  if (call.startTimeSeconds !== undefined) fields.start_time_seconds = String(call.startTimeSeconds);
  return formBody(fields, filesOf(call.inputs, media));
};

/** A first frame alone has a field of its own; two frames are told apart by their order. */
const filesOf = (inputs: readonly RenderInput[], media: readonly Base64[]): FormFile[] => {
  const given = inputs.map((input, index) => ({ ...input, bytes: bytesOf(media[index] ?? '') }));
  const [first, ...more] = given.sort((one, other) => orderOf(one) - orderOf(other));
  if (first?.use === 'last_frame')
    throw new RenderError(
      'invalid_input_media',
      'The engine of this model takes a last frame only together with a first one',
    );
  const field = first?.use === 'first_frame' && more.length === 0 ? 'input_reference' : 'input_references';
  return given.map(({ kind, mediaType, bytes }, index) => ({
    field,
    fileName: `${kind}-${index + 1}.${endings[mediaType] ?? mediaType.split('/')[1] ?? 'bin'}`,
    mediaType,
    bytes,
  }));
};

const orderOf = ({ use }: RenderInput): number => (use === 'first_frame' ? 0 : 1);

/** Where they differ from the subtype. The engine recognizes videos and sound by the name of the file. */
const endings: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'video/quicktime': 'mov',
  'audio/mpeg': 'mp3',
};

const bytesOf = (data: Base64): Buffer => (typeof data === 'string' ? Buffer.from(data) : asBuffer(data));
