/** The image routes in words and schemas, for the OpenAPI document. */
import {
  ImageCompletedEvent,
  ImageEndpoints,
  ImageFields,
  ImageForm,
  ImageModelList,
  ImageResponse,
} from '../../schemas/image.ts';
import { json, type RouteDoc } from '../../schemas/openapi.ts';

const tag = 'Images';

const draws = {
  tag,
  body: { ...json(ImageFields), 'multipart/form-data': ImageForm },
  answer: { ...json(ImageResponse), 'text/event-stream': ImageCompletedEvent },
  errors: [400, 404, 413, 429, 502, 503, 504],
} as const;

export const imageDocs = {
  create: { ...draws, summary: 'Images from a prompt and perhaps reference images; base64 unless told' },
  generations: { ...draws, summary: 'The same; links unless told' },
  edits: { ...draws, summary: 'Images edited as the prompt says; links unless told' },
  models: {
    tag,
    summary: 'Image models and what they take',
    answer: json(ImageModelList),
    errors: [502, 503],
  },
  endpoints: {
    tag,
    summary: "One image model's endpoint record",
    answer: json(ImageEndpoints),
    errors: [404, 502, 503],
  },
} as const satisfies Record<string, RouteDoc>;
