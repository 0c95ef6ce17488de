/** The protocol between the gateway and its engines as an OpenAPI 3.1 document. */
import type { TSchema } from 'typebox';
import * as requests from './requests.ts';
import * as responses from './responses.ts';

/** Of the protocol, not of the program. */
const protocolVersion = '1.0.0';

const schemas = { ...requests, ...responses } as const;
type Name = keyof typeof schemas;

/** Bytes of a type. */
const file = (type: string): Body => ({ [type]: { schema: {} } });
const of = (type: string, ...names: readonly Name[]): Body => {
  const refs = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return { [type]: { schema: refs.length === 1 ? refs[0] : { anyOf: refs } } };
};
const json = (...names: readonly Name[]): Body => of('application/json', ...names);
const form = (name: Name): Body => of('multipart/form-data', name);

type Body = Readonly<Record<string, object>>;

interface Operation {
  readonly summary: string;
  readonly body?: Body;
  /** Of 200; other statuses from 201 to 299 mean the same. */
  readonly answer: Body | undefined;
  readonly parameters?: readonly object[];
}

const parameter = (name: string, where: 'path' | 'query', description: string): object => ({
  name,
  in: where,
  required: where === 'path',
  description,
  schema: { type: where === 'path' ? 'string' : 'integer' },
});
const id = parameter('id', 'path', '`id` of the job');
const index = parameter('index', 'query', 'Number of the output, from 0; absent: 0');

const renders = (
  path: '/videos' | '/music',
  body: Body,
  answer: Body,
): Readonly<Record<string, Operation>> => ({
  [`post ${path}`]: {
    summary: 'Create a render; responds before it is done',
    body,
    answer: json('EngineJobRecord'),
  },
  [`get ${path}/{id}`]: {
    summary: 'How far the render is; called every 0.2 to 2 seconds',
    parameters: [id],
    answer: json('EngineJobRecord'),
  },
  [`get ${path}/{id}/content`]: {
    summary: 'A finished file',
    parameters: [id, index],
    answer,
  },
  [`delete ${path}/{id}`]: {
    summary: 'Stop the render if it runs, and remove it with its files',
    parameters: [id],
    answer: undefined,
  },
});

const operations: Readonly<Record<string, Operation>> = {
  'post /images/generations': {
    summary: 'Images from a prompt',
    body: json('ImageRequest'),
    answer: json('ImagesResponse'),
  },
  'post /images/edits': {
    summary: 'Images from pictures',
    body: form('ImageEditForm'),
    answer: json('ImagesResponse'),
  },
  ...renders('/videos', { ...json('VideoRequest'), ...form('VideoForm') }, file('video/mp4')),
  ...renders('/music', json('MusicRequest'), file('audio/*')),
  'get /music/{id}/stream': {
    summary: 'A song as WAV from its beginning, while it renders; optional',
    parameters: [id, index],
    answer: file('audio/wav'),
  },
  'post /audio/speech': {
    summary: 'Speech; samples are sent as they are made',
    body: json('SpeechRequest', 'OmniSpeechRequest'),
    answer: file('audio/*'),
  },
  'post /audio/transcriptions': {
    summary: 'The text of a recording, whole or as events',
    body: form('TranscriptionForm'),
    answer: { ...json('Transcript'), ...of('text/event-stream', 'TranscriptEvent') },
  },
  'post /embeddings': {
    summary: 'Vectors of texts',
    body: json('EmbeddingsRequest'),
    answer: json('EmbeddingsResponse'),
  },
  'post /rerank': {
    summary: 'Relevance of documents to a query',
    body: json('EngineRerankRequest', 'TeiRerankRequest'),
    answer: json('EngineRerankResponse'),
  },
};

const failures = {
  400: 'The request is wrong (413 and 422 mean the same): the client gets a 400 with the message',
  429: 'Busy, retried on another replica (503 and 529 too); `Retry-After` is passed on',
  500: 'The server failed: counts against the replica, and is retried on another',
};

const operation = (route: string, { summary, body, answer, parameters }: Operation): object => ({
  operationId: route
    .split(/[^a-z]+/i)
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join(''),
  summary,
  ...(parameters === undefined ? {} : { parameters }),
  ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
  responses: {
    200: { description: 'Success', ...(answer === undefined ? {} : { content: answer }) },
    ...Object.fromEntries(
      Object.entries(failures).map(([status, description]) => [
        status,
        { description, content: json('EngineFailure') },
      ]),
    ),
  },
});

export const engineProtocol = (): object => {
  const paths: Record<string, Record<string, object>> = {};
  for (const [route, described] of Object.entries(operations)) {
    const [method = '', path = ''] = route.split(' ');
    paths[path] = { ...paths[path], [method]: operation(route, described) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice engine protocol',
      version: protocolVersion,
      description: 'What a media engine has to serve. engine-protocol.md explains it.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://10.0.0.5:8000/v1', description: 'A replica of an engine’s row' }],
    security: [{}, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The key that `key_env` names' },
      },
      schemas: schemas satisfies Readonly<Record<string, TSchema>>,
    },
  };
};
