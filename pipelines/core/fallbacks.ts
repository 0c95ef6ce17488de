/** Prepares the task of a request a second time, for a fallback of its model. */

import { defer, map, Observable, switchMap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { FallbackReason } from '../../src/errors.ts';
import { emitted } from '../../src/helpers/emitted.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { ResolvedRequest } from './resolve-model.ts';
import { type PartObserver, type Step, type Transform, transform } from './stage.ts';

/** A draft that can be read again for another model; only where its model has fallbacks. */
export interface Rereadable<Draft> {
  /** `prepared`: what has become of the draft meanwhile. */
  reread?(model: Model, prepared: Draft): Draft | Observable<Draft>;
}

/** A task that another model may take over; only where its model has fallbacks. */
export interface Fallible<Task> {
  readonly fallbacks?: FallbackTasks<Task>;
}

export interface FallbackTasks<Task> {
  /** In their order, as far as they are served now. */
  models(): readonly Model[];
  /** Fails where the model cannot take the request. */
  taskFor(model: Model): Observable<Task>;
  handOver(from: string, to: string, reason: FallbackReason): void;
}

/**
 * What a request means depends on its model: defaults, limits, media it takes. So the body is read again. `merge` takes
 * over what was loaded into the first draft meanwhile.
 */
export const readable =
  <Body, Draft extends object, Context>(
    read: Step<ResolvedRequest<Body>, Draft, Context>,
    merge?: (read: Draft, first: Draft, prepared: Draft) => Draft,
  ): Step<ResolvedRequest<Body>, Draft & Rereadable<Draft>, Context> =>
  (resolved, context) => {
    const draft = read(resolved, context);
    if (resolved.model.fallbacks === undefined) return draft;
    return mapped(draft, (first) => ({
      ...first,
      reread: (model: Model, prepared: Draft) =>
        mapped(read({ ...resolved, model }, context), (again) => merge?.(again, first, prepared) ?? again),
    }));
  };

/** The last step before the engine is called. */
export const withFallbacks =
  <Draft extends { readonly model: Model }, Task extends object, Context>(
    { catalog, fallbacks }: Pick<Ports, 'catalog' | 'fallbacks'>,
    prepare: Step<Draft, Task, Context>,
  ): Step<Draft & Rereadable<Draft>, Task & Fallible<Task>, Context> =>
  (draft, context) => {
    const task = prepare(draft, context);
    const { reread, model } = draft;
    if (reread === undefined) return task;
    const tasks: FallbackTasks<Task> = {
      models: () => (model.fallbacks ?? []).flatMap((id) => catalog.find(id) ?? []),
      taskFor: (other) =>
        defer(() => emitted(reread(other, draft))).pipe(
          switchMap((again) => emitted(prepare(again, context))),
        ),
      handOver: (from, to, reason) => fallbacks.count(from, to, reason),
    };
    return mapped(task, (first) => ({ ...first, fallbacks: tasks }));
  };

const mapped = <From, To>(
  value: From | Observable<From>,
  change: (value: From) => To,
): To | Observable<To> => (value instanceof Observable ? value.pipe(map(change)) : change(value));

/** For transforms that read the task when they are opened: with the first part it is known which model answers. */
export const whenAnswered = <In, Out, Context extends { readonly task: object }>(
  stage: Transform<In, Out, Context>,
): Transform<In, Out, Context> =>
  transform((next, context) => {
    if ((context.task as Fallible<unknown>).fallbacks === undefined) return stage.open(next, context);
    let opened: PartObserver<In> | undefined;
    const open = (): PartObserver<In> => {
      opened ??= stage.open(next, context);
      return opened;
    };
    return {
      next: (part) => open().next(part),
      error: (error) => (opened ?? next).error(error),
      complete: () => open().complete(),
      onTeardown: () => opened?.onTeardown?.(),
    };
  });
