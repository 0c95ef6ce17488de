/** The server under check as a row of the catalog: the engine, model and wire that the gateway would use. */
import { pino } from 'pino';
import { lastValueFrom, Observable, takeUntil, throwError, toArray } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import { parseCatalog } from '../catalog/load.ts';
import { CatalogFileError } from '../catalog/problems.ts';
import { createEngine, type RunningEngine } from '../engines/engine.ts';
import type { Wire } from '../engines/wire.ts';
import { wires } from '../engines/wires.ts';
import { createMedia } from '../media/media.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Codec } from '../ports/codec.ts';
import type { Flow } from '../ports/engines/engine.ts';
import type { Shared } from '../ports/shared.ts';
import { InvalidOptions } from './finding.ts';
import { type CheckKind, checkedRow } from './rows.ts';
import { CheckedServer } from './server.ts';

export interface TargetOptions {
  /** Base address, where the wire's paths begin. */
  readonly url: string;
  readonly kind: CheckKind;
  readonly wire: string;
  readonly key: string | undefined;
  /** Of the model's row, over those of the check. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly voice: string | undefined;
  /** Of images and videos. */
  readonly size: string | undefined;
}

const keyName = 'CHECKED_ENGINE_KEY';

export class Target {
  readonly model: Model;
  readonly row: EngineRow;
  readonly wire: Wire;
  readonly codec: Codec & Shared<Codec>;
  readonly signal: AbortSignal;
  readonly server: CheckedServer;
  readonly #key: string | undefined;

  /** Throws `InvalidOptions` that names the field at fault. */
  constructor(options: TargetOptions, servedAs: string, codec: Codec & Shared<Codec>, signal: AbortSignal) {
    const { url, wire, key } = options;
    const engine = { wire, replicas: [url], ...(key === undefined ? {} : { key_env: keyName }) };
    const row = checkedRow(options, servedAs);
    const { engines, models } = readRows({ engines: { checked: engine }, models: { checked: row } });
    const known = wires.get(wire);
    const [model] = models;
    if (model === undefined || engines.checked === undefined || known === undefined)
      throw new InvalidOptions(`the wire must be one of ${[...wires.keys()].join(', ')}`);
    this.model = model;
    this.row = engines.checked;
    this.wire = known;
    this.codec = codec;
    this.signal = signal;
    this.server = new CheckedServer(url, known.headers(key), signal);
    this.#key = key;
  }

  /** All that a call emits; a new engine each time, so that no failure counts against the next. */
  async call<Out>(
    start: (engine: RunningEngine, flow: Flow) => Observable<Out> | undefined,
    wire: Wire = this.wire,
  ): Promise<Out[]> {
    const media = createMedia({ allowPrivate: false });
    const engine = createEngine('checked', this.row, {
      log: pino({ level: 'silent' }),
      env: { [keyName]: this.#key },
      wires: new Map([[this.row.wire, wire]]),
      media,
      codec: this.codec,
    });
    const flow = {
      requestId: 'engine-check',
      subscription: 'engine-check',
      backpressure: new Backpressure(),
    };
    try {
      const started =
        start(engine, flow) ?? throwError(() => new Error(`The wire ${this.row.wire} has no such operation`));
      return await lastValueFrom(started.pipe(takeUntil(aborted(this.signal)), toArray()));
    } finally {
      await engine.close();
      await media.close();
    }
  }
}

/** By the loader of `sluice.yaml`. */
const readRows = (rows: object): ReturnType<typeof parseCatalog> => {
  try {
    return parseCatalog(JSON.stringify(rows), 'row', '.');
  } catch (error) {
    if (!(error instanceof CatalogFileError)) throw error;
    const [problem = ''] = error.problems;
    throw new InvalidOptions(problem.replace(/^row:\d+:\d+ (?:\w+\.checked\.)?/, ''), { cause: error });
  }
};

/** Errors when the time is over. */
const aborted = (signal: AbortSignal): Observable<never> =>
  new Observable((subscriber) => {
    const stop = (): void => subscriber.error(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    return () => signal.removeEventListener('abort', stop);
  });
