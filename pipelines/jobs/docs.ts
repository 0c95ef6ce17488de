/** What the routes of jobs have in common, for the OpenAPI document: those of videos and those of music are the same pipelines. */
import Type, { type TSchema } from 'typebox';
import { json, type RouteDoc } from '../../schemas/openapi.ts';
import { ListQuery } from '../../schemas/render.ts';

export interface JobWords {
  readonly tag: string;
  /** What is rendered, as in `A … job`. */
  readonly kind: string;
  /** What a finished job has, as in `delete … with its …`. */
  readonly outputs: string;
}

export interface JobAnswers {
  readonly job: TSchema;
  readonly list: TSchema;
  readonly deleted: TSchema;
  readonly models: TSchema;
}

export const jobDocs = ({ tag, kind, outputs }: JobWords, { job, list, deleted, models }: JobAnswers) =>
  ({
    get: { tag, summary: `A ${kind} job`, answer: json(job), errors: [404, 503] },
    list: {
      tag,
      summary: `The subscription's ${kind} jobs`,
      query: ListQuery,
      answer: json(list),
      errors: [400, 503],
    },
    remove: {
      tag,
      summary: `Cancel a job, or delete a finished one with its ${outputs}`,
      answer: json(Type.Union([deleted, job])),
      errors: [404, 409, 503],
    },
    models: { tag, summary: `Served ${kind} models`, answer: json(models), errors: [502, 503] },
  }) as const satisfies Record<string, RouteDoc>;

/** A job, started. */
export const startsJob = { status: 202, errors: [400, 404, 413, 429, 503] } as const;

/** The bytes of an output. */
export const sendsOutput = { errors: [400, 404, 409, 503] } as const;
