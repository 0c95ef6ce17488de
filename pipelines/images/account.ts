/** Counts the images of a request and the megapixels that they are billed by. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { costOf } from '../../src/billing/cost.ts';
import { billedMegapixels } from '../../src/images/megapixels.ts';
import type { MostUsed } from '../../src/ports/quotas.ts';
import { type Account, type Billed, type Outcome, usageEvent } from '../core/account.ts';
import { mostCost, mostOfAny } from '../core/most-used.ts';
import type { MadeImage } from './drawn-images.ts';
import type { ImageTask } from './load-images.ts';

/** `route` is the path below `/v1`. */
export const imageAccount =
  (route: string) =>
  (billed: Billed<ImageTask>): ImageAccount =>
    new ImageAccount(route, billed);

export class ImageAccount implements Account<Pick<MadeImage, 'width' | 'height'>> {
  readonly #route: string;
  readonly #billed: Billed<ImageTask>;
  readonly #started = performance.now();
  #images = 0;
  #pixels = 0;

  constructor(route: string, billed: Billed<ImageTask>) {
    this.#route = route;
    this.#billed = billed;
  }

  add({ width, height }: Pick<MadeImage, 'width' | 'height'>): void {
    this.#images++;
    this.#pixels += width * height;
  }

  /** A fallback is taken to make as many pixels in as many steps; one that makes more does not take over. */
  most(): MostUsed {
    const { task } = this.#billed;
    const { width, height, n, steps } = task.call;
    return mostOfAny(task, (model) => {
      const scaling = (model === task.model ? task.spec : model.capabilities?.image)?.step_scaling;
      const megapixels = billedMegapixels(width * height * n, steps, scaling);
      return mostCost(costOf([[megapixels, model.pricing.completion]]));
    });
  }

  /** Of the images so far. */
  bill() {
    const { model, spec, call } = this.#billed.task;
    const megapixels = billedMegapixels(this.#pixels, call.steps, spec.step_scaling);
    return { megapixels, cost: costOf([[megapixels, model.pricing.completion]]) };
  }

  /** Images that were made before a client left are billed, those of a failure are not. */
  event(outcome: Outcome, status: number): UsageEvent {
    const counts = { inputs: this.#images, started: this.#started };
    const event = usageEvent(this.#route, this.#billed, outcome, status, counts);
    const { megapixels, cost } = this.bill();
    return {
      ...event,
      quantities: { ...event.quantities, megapixels },
      cost: outcome === 'failed' ? '0' : cost,
    };
  }
}
