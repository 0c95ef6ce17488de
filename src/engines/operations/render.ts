/** Renders videos and songs as jobs of an engine: created, polled, downloaded, always deleted. */
import {
  concat,
  defer,
  EMPTY,
  finalize,
  from,
  map,
  merge,
  mergeMap,
  Observable,
  type OperatorFunction,
  of,
  reduce,
  repeat,
  retry,
  switchMap,
  takeWhile,
  tap,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import { ApiError, fail } from '../../errors.ts';
import { exponentialBackoff } from '../../helpers/backoff.ts';
import { joinBytes } from '../../helpers/joined-bytes.ts';
import { Base64Writer } from '../../media/base64.ts';
import { Backpressure } from '../../ports/backpressure.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import {
  type RenderCall,
  RenderError,
  type RenderEvent,
  type RenderFlow,
} from '../../ports/engines/render.ts';
import type { Base64 } from '../../ports/media.ts';
import type { EngineCalls } from '../calls.ts';
import { EngineError } from '../engine-error.ts';
import type { RoutedCall } from '../pool/policies/policy.ts';
import type { Replica } from '../pool/replica.ts';
import type { EngineJob, RenderWire } from '../wire.ts';
import { hearSongs } from './render-samples.ts';

/** Milliseconds before a job is first polled; each wait is half as long again, up to the longest. */
const firstLook = 200;
const longestWait = 2000;
const lookBackoff = exponentialBackoff({ first: firstLook * 1.5, most: longestWait, factor: 1.5 });
/** Consecutive polls that may fail. */
const patience = 15;
/** Attempts to create a job while engines are down or busy, and the first backoff in milliseconds, doubled each time. */
const beginnings = 6;
const beginBackoff = exponentialBackoff({ first: 1000 });

/** Bytes: more than any input may have. */
const longestInput = 64 * 1024 * 1024;

/** A job and the replica that has it. */
export interface Begun {
  readonly replica: Replica;
  readonly job: EngineJob;
  /** To be called when no more requests are about it. */
  readonly end: () => void;
}

/** Jobs are distributed by load alone. */
const anyCall = (tried: readonly Replica[]): RoutedCall => ({
  tried,
  model: undefined,
  prompt: undefined,
  session: undefined,
  uncached: 0,
});

export const renderOverHttp =
  (wire: RenderWire, calls: EngineCalls) =>
  (model: Model, call: RenderCall, flow: RenderFlow): Observable<RenderEvent> => {
    const own: Flow = {
      requestId: flow.jobId,
      subscription: flow.subscription,
      backpressure: new Backpressure(),
    };
    const create = (media: readonly Base64[]): Observable<Begun> => {
      const tried: Replica[] = [];
      return defer(() => {
        const replica = calls.pool.pick(anyCall(tried)) ?? calls.pool.pick(anyCall([]));
        if (replica === undefined) throw fail('unavailable', 'The model is unavailable, try again');
        tried.push(replica);
        const end = replica.beginJob();
        return calls.ask(replica, 'POST', wire.encode(model, call, media), own).pipe(
          map((body): Begun => ({ replica, job: wire.decode(call, body), end })),
          tap({ error: end }),
        );
      });
    };
    const remove = ({ replica, job, end }: Begun): void => {
      calls
        .ask(replica, 'DELETE', { path: wire.jobPath(call, job.id) }, own)
        .pipe(finalize(end))
        .subscribe({
          // The job then expires on the engine.
          error: () => undefined,
        });
    };
    const watch = ({ replica, job }: Begun): Observable<EngineJob> => {
      const look = calls.ask(replica, 'GET', { path: wire.jobPath(call, job.id) }, own).pipe(
        map((body) => wire.decode(call, body)),
        retry({ count: patience, delay: (error) => (isRefusal(error) ? ended(error) : timer(longestWait)) }),
      );
      const looks = timer(firstLook).pipe(
        switchMap(() => look.pipe(repeat({ delay: (count) => timer(lookBackoff(count)) }))),
      );
      return concat(of(job), looks).pipe(
        map((seen) => {
          if (seen.failure !== undefined) throw seen.failure;
          return seen;
        }),
        takeWhile(({ state }) => state !== 'done', true),
      );
    };
    const follow = (begun: Begun): Observable<RenderEvent> => {
      let heard = false;
      return watch(begun).pipe(
        mergeMap((job) => {
          const progress = of<RenderEvent>({ type: 'progress', done: job.done });
          const outputs =
            job.state === 'done' ? fetchOutputs(wire, calls, call, own, { ...begun, job }) : EMPTY;
          if (heard || job.state === 'waiting') return merge(progress, outputs);
          heard = true;
          return merge(progress, hearSongs({ wire, calls, model, call, begun, flow, own }), outputs);
        }),
        finalize(() => remove(begun)),
      );
    };
    return readInputs(call, flow, wire.sendsFiles(model)).pipe(
      switchMap((media) => begin(create(media), remove)),
      switchMap(follow),
    );
  };

/** A job is known only once created: unsubscribing earlier deletes it as soon as the response arrives. */
const begin = (create: Observable<Begun>, remove: (begun: Begun) => void): Observable<Begun> =>
  new Observable((subscriber) => {
    let left = false;
    const again = (error: unknown, count: number) =>
      left || !isPassing(error) ? throwError(() => error) : timer(beginBackoff(count));
    create.pipe(retry({ count: beginnings - 1, delay: again })).subscribe({
      next: (begun) => (left ? remove(begun) : subscriber.next(begun)),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    });
    return () => {
      left = true;
    };
  });

/** Down or busy; an unknown route stays unknown. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.kind === 'unavailable' || error.kind === 'engine_unreachable') &&
  !(error instanceof EngineError && error.misconfigured);

/** A job that the engine refuses to talk about any more has failed; waiting would not help it. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.kind === 'invalid_request';

const ended = (error: ApiError): Observable<never> =>
  throwError(() => new RenderError('render_failed', error.message, { cause: error }));

/** One after another, as base64 or as they are. */
const readInputs = (call: RenderCall, flow: RenderFlow, asFiles: boolean): Observable<readonly Base64[]> =>
  concat(
    ...(call.type === 'video' ? call.inputs : []).map((input) => {
      const bytes = flow.input(input, new Backpressure());
      return asFiles ? bytes.pipe(joinBytes) : bytes.pipe(asBase64);
    }),
  ).pipe(toArray());

const asBase64: OperatorFunction<Buffer, Base64> = (source) =>
  defer(() =>
    source.pipe(
      reduce((writer, piece) => {
        writer.write(piece);
        return writer;
      }, new Base64Writer(longestInput, undefined)),
      map((writer) => writer.end()),
    ),
  );

/** Each is read to its end, or skipped, before the next. */
const fetchOutputs = (
  wire: RenderWire,
  calls: EngineCalls,
  call: RenderCall,
  own: Flow,
  { replica, job }: Begun,
): Observable<RenderEvent> =>
  from(job.outputs).pipe(
    mergeMap(
      (output) =>
        new Observable<RenderEvent>((subscriber) => {
          let taken = false;
          subscriber.next({
            ...output,
            type: 'output',
            bytes: (backpressure) => {
              taken = true;
              return calls
                .download(replica, wire.contentPath(call, job.id, output.index), { ...own, backpressure })
                .pipe(finalize(() => subscriber.complete()));
            },
          });
          if (!taken) subscriber.complete();
        }),
      1,
    ),
  );
