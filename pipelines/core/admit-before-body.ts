/** Admits a request with a large body before the body is received: a refusal costs its first bytes. */

import { catchError, finalize, map, type Observable, of, switchMap, take, throwError } from 'rxjs';
import type { Model, ModelKind } from '../../schemas/catalog.ts';
import { ApiError } from '../../src/errors.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import {
  type Admission,
  type AdmissionRequest,
  type EarlyLease,
  type Lease,
  sumOfLimits,
} from '../../src/ports/admission.ts';
import type { Catalog, ModelScope } from '../../src/ports/catalog.ts';
import { type KeyedPipeline, smallBodyBytes } from '../../src/ports/exchange.ts';
import { modelInForm, modelInJson } from './named-model.ts';

interface AdmissionPorts {
  readonly admission: Admission;
  readonly catalog: Catalog;
}

type Kinds = ModelKind | readonly ModelKind[];

/** Bodies of other types are refused unread. */
const readable = /^\s*(?:multipart\/|[\w.+-]+\/[\w.+-]*json)/i;

/** What errors call the model of a request that names none early enough; those of each kind are counted apart. */
const lateModel = (kinds: readonly ModelKind[]): string =>
  `${kinds.join(', ')} models that are not named in the first ${smallBodyBytes / 1024} KiB of a request`;

/**
 * The first bytes tell the model. Where they do not, the request counts as one of all models of the route together, so
 * that such requests are limited too, and none is refused that its model's own limits allow. `admit`, which knows the
 * request in full, asks again where that names another model.
 */
export const admitBeforeBody = (
  { admission, catalog }: AdmissionPorts,
  kinds: Kinds,
  pipeline: KeyedPipeline,
  mapError: (error: ApiError) => ApiError = (error) => error,
): KeyedPipeline => {
  const run: KeyedPipeline = (exchange, request) => {
    const { body } = exchange;
    if (body.length !== undefined && body.length <= smallBodyBytes) return pipeline(exchange, request);
    const type = exchange.header('content-type');
    if (!readable.test(type)) return pipeline(exchange, request);
    const { subscription, scope } = request.caller;
    const early = new Early();
    const admitted = (prefix: Buffer | undefined): Observable<void> => {
      const asked = prefix && requestOf(catalog, kinds, namedIn(prefix, type), scope);
      if (asked === undefined) return of(undefined);
      exchange.queuedFor = asked.model;
      return emitted(admission.admit({ subscription, ...asked })).pipe(
        take(1),
        map((lease) => {
          exchange.queuedFor = undefined;
          early.hold(asked.model, lease);
        }),
      );
    };
    return body.prefix().pipe(
      switchMap(admitted),
      catchError((error: unknown) => throwError(() => (error instanceof ApiError ? mapError(error) : error))),
      switchMap(() => pipeline(exchange, { ...request, early })),
      finalize(() => early.release()),
    );
  };
  // The stages of the pipeline stay visible.
  return Object.assign(run, pipeline);
};

const namedIn = (prefix: Buffer, type: string): string | undefined =>
  /^\s*multipart\//i.test(type) ? modelInForm(prefix, type) : modelInJson(prefix);

const requestOf = (
  catalog: Catalog,
  kinds: Kinds,
  name: string | undefined,
  scope: ModelScope | undefined,
): Omit<AdmissionRequest, 'subscription'> | undefined => {
  const model = name === undefined ? undefined : modelOf(catalog, kinds, name, scope);
  if (model !== undefined) return { model: model.id, limits: model.limits };
  const all = [kinds].flat();
  const anyOf = catalog.inService().filter(({ kind }) => all.includes(kind));
  if (anyOf.length === 0) return undefined;
  return { model: lateModel(all), limits: sumOfLimits(anyOf.map(({ limits }) => limits)), anyOf };
};

/** Undefined for a name that the whole request will be refused for, unless it has another. */
const modelOf = (
  catalog: Catalog,
  kinds: Kinds,
  name: string,
  scope: ModelScope | undefined,
): Model | undefined => {
  try {
    return catalog.resolve(name, kinds, undefined, scope).model;
  } catch {
    return undefined;
  }
};

class Early implements EarlyLease {
  #model = '';
  #lease: Lease | undefined;

  hold(model: string, lease: Lease): void {
    this.#model = model;
    this.#lease = lease;
  }

  claim(model: string): Lease | undefined {
    const lease = this.#lease;
    this.#lease = undefined;
    if (model === this.#model) return lease;
    lease?.release();
    return undefined;
  }

  release(): void {
    this.#lease?.release();
    this.#lease = undefined;
  }
}
