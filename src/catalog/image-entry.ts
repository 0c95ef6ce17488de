/** Entries of image models: their parameters, endpoints and limits as clients read them. */
import type { Model } from '../../schemas/catalog.ts';
import type { ImageEndpoints, ImageModelEntry } from '../../schemas/image.ts';
import type { ImageCapabilities } from '../../schemas/image-capabilities.ts';
import { namesOf, settings } from '../images/spec.ts';

type Descriptors = ImageModelEntry['supported_parameters'];

export const imageEntry = (model: Model, spec: ImageCapabilities): ImageModelEntry => ({
  id: model.id,
  name: model.name,
  description: model.description,
  created: model.created,
  endpoints: endpointsPath(model.id),
  architecture: {
    input_modalities: model.input_modalities,
    output_modalities: model.output_modalities,
  },
  supported_parameters: descriptors(spec),
  supports_streaming: spec.streaming,
});

export const imageEndpoints = (model: Model, spec: ImageCapabilities): ImageEndpoints => ({
  id: model.id,
  endpoints: [
    {
      provider_name: 'Sluice',
      provider_slug: 'sluice',
      provider_tag: null,
      supported_parameters: descriptors(spec),
      supports_streaming: spec.streaming,
      allowed_passthrough_parameters: passthrough(spec),
      pricing: [{ billable: 'output_image', unit: 'megapixel', cost_usd: Number(model.pricing.completion) }],
    },
  ],
});

/** Names for the list of all models, which has no room for descriptors. */
export const imageParameterNames = (spec: ImageCapabilities): string[] => Object.keys(descriptors(spec));

export const imageLimits = ({
  max_prompt_length,
  parameters,
}: ImageCapabilities): Record<string, number> => ({
  max_prompt_length,
  max_images: parameters.n?.max ?? 1,
  ...(parameters.input_references && { max_input_references: parameters.input_references.max }),
});

const passthrough = ({ parameters }: ImageCapabilities): string[] =>
  settings.flatMap((setting) => namesOf(setting, parameters));

/** Every name a request may use, an alias like the parameter it stands for. */
const descriptors = ({ max_prompt_length, streaming, parameters }: ImageCapabilities): Descriptors => {
  const shown: Descriptors = {
    prompt: { type: 'string', max_length: max_prompt_length },
    response_format: { type: 'enum', values: ['url', 'b64_json'] },
  };
  for (const [name, descriptor] of Object.entries(parameters)) {
    const { aliases = [], ...own } = { aliases: undefined, ...descriptor };
    for (const each of [name, ...aliases]) shown[each] = own;
  }
  if (streaming) shown.stream = { type: 'boolean' };
  return shown;
};

/** An id without an author may be asked for under any. */
const endpointsPath = (id: string): string => {
  const slash = id.indexOf('/');
  const author = slash < 0 ? 'sluice' : id.slice(0, slash);
  return `/v1/images/models/${author}/${encodeURIComponent(id.slice(slash + 1))}/endpoints`;
};
