/** Examples of images. */
import { namedEvents } from './events.ts';

const created = 1794732172;

const usage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
  input_tokens_details: { text_tokens: 0, image_tokens: 0 },
  cost: 0.00524288,
  megapixels: 1.048576,
};
const about = { size: '1024x1024', output_format: 'png', background: 'opaque', usage };

const url =
  'https://gateway.example/v1/blobs/images/img_4201052074734691a211ca0a04657526.png?expires=1794735772&signature=NKFeV0mgvXi-FFjqJlvYNwRbv6Vg8kyyJ7A_O1jNTFo';
const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAQAAAA…';

const asLink = { created, data: [{ url, media_type: 'image/png' }], ...about };
const asBase64 = { created, data: [{ b64_json: base64, media_type: 'image/png' }], ...about };

const prompt = 'A lighthouse at dusk';
const generate = {
  'application/json': {
    'A prompt': { prompt, size: '1024x1024', seed: 7 },
    'A stream': { prompt, stream: true },
    'A format and a resolution': { prompt, aspect_ratio: '16:9', resolution: '1K', output_format: 'webp' },
  },
  'multipart/form-data': { 'A prompt': { prompt, size: '1024x1024' } },
};
const event = {
  'A stream': namedEvents([
    {
      type: 'image_generation.completed',
      b64_json: base64,
      media_type: 'image/png',
      created,
      created_at: created,
      quality: 'auto',
      ...about,
    },
    '[DONE]',
  ]),
};

export const imagesExamples = {
  request: generate,
  response: { 'application/json': { Base64: asBase64 }, 'text/event-stream': event },
};

export const generationsExamples = {
  request: generate,
  response: { 'application/json': { 'A link': asLink }, 'text/event-stream': event },
};

export const editsExamples = {
  request: {
    'application/json': {
      'An image by its address': {
        model: 'sluice/image-edit',
        prompt: 'Make it night',
        images: [{ image_url: 'https://example.com/lighthouse.png' }],
      },
    },
    'multipart/form-data': {
      'An uploaded image': {
        model: 'sluice/image-edit',
        prompt: 'Make it night',
        image: ['(bytes of lighthouse.png)'],
      },
    },
  },
  response: { 'application/json': { 'A link': asLink }, 'text/event-stream': event },
};

const parameters = {
  n: { type: 'range', min: 1, max: 10, default: 1 },
  size: {
    type: 'constraint',
    multiple_of: 16,
    min_area: 65536,
    max_area: 4194304,
    max_ratio: 4,
    default: '1024x1024',
  },
  seed: { type: 'boolean' },
};

export const imageModelsExamples = {
  response: {
    'application/json': {
      'One model': {
        data: [
          {
            id: 'sluice/image',
            name: 'Image',
            description: 'Images from text in a few steps; the default image model.',
            created: 1767225600,
            endpoints: '/v1/images/models/sluice/image/endpoints',
            architecture: { input_modalities: ['text'], output_modalities: ['image'] },
            supported_parameters: parameters,
            supports_streaming: true,
          },
        ],
      },
    },
  },
};

export const imageEndpointsExamples = {
  response: {
    'application/json': {
      'A record': {
        id: 'sluice/image',
        endpoints: [
          {
            provider_name: 'Sluice',
            provider_slug: 'sluice',
            provider_tag: null,
            supported_parameters: parameters,
            supports_streaming: true,
            allowed_passthrough_parameters: ['steps', 'num_inference_steps', 'guidance_scale'],
            pricing: [{ billable: 'output_image', unit: 'megapixel', cost_usd: 0.005 }],
          },
        ],
      },
    },
  },
};
