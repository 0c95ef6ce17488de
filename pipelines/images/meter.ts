/**
 * Images made in; what `deliver` makes of them out, their end held until the request's usage event is safe. One event
 * per request, however it ends: images that were made before a client left are billed, those of a failure are not.
 */
import { defer, type OperatorFunction, tap } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { costOf } from '../../src/billing/cost.ts';
import { billedMegapixels } from '../../src/images/megapixels.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import { holdUntilKept } from '../core/hold-until-kept.ts';
import { type Metered, type Outcome, UsageRecord, usageEvent } from '../core/usage-event.ts';
import type { MadeImage } from './call.ts';
import type { ImageTask } from './read-inputs.ts';

/** What an answer says it costs. */
export interface ImageBill {
  readonly megapixels: string;
  readonly cost: string;
}

export const imageBill = ({ model, spec, call }: ImageTask, images: readonly Pixels[]): ImageBill => {
  const pixels = images.reduce((sum, { width, height }) => sum + width * height, 0);
  const megapixels = billedMegapixels(pixels, call.steps, spec.step_scaling);
  return { megapixels, cost: costOf([[megapixels, model.pricing.completion]]) };
};

type Pixels = Pick<MadeImage, 'width' | 'height'>;

export const meterImages =
  <Out>(
    usage: UsageLog,
    metered: Metered<ImageTask>,
    deliver: OperatorFunction<MadeImage, Out>,
  ): OperatorFunction<MadeImage, Out> =>
  (source) =>
    defer(() => {
      const started = performance.now();
      const made: Pixels[] = [];
      const record = new UsageRecord(usage, metered.exchange, {
        event: (outcome, status) => imageEvent(metered, outcome, status, { made, started }),
      });
      return source.pipe(
        tap((image) => made.push(image)),
        deliver,
        holdUntilKept(record),
      );
    });

const noTokens = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

const imageEvent = (
  metered: Metered<ImageTask>,
  outcome: Outcome,
  status: number,
  { made, started }: { readonly made: readonly Pixels[]; readonly started: number },
): UsageEvent => {
  const counts = { usage: noTokens, inputs: made.length, delivered: 0, started, firstToken: undefined };
  const event = usageEvent(metered, outcome, status, counts);
  const { megapixels, cost } = imageBill(metered.task, made);
  return {
    ...event,
    quantities: { ...event.quantities, megapixels },
    cost: outcome === 'failed' ? '0' : cost,
  };
};
