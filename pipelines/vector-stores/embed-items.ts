/** Batches of items in, as the ingestion of files hands them over; their vectors out. Each is billed once, however often it is begun. */
import type { Logger } from 'pino';
import { EMPTY } from 'rxjs';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { UsageLog } from '../../src/ports/usage.ts';
import type { Embed } from '../../src/vector-stores/ingest-file.ts';
import { type EmbedPorts, embedTexts } from './embed-texts.ts';

export const filesRoute = '/vector_store/{id}/files';

export const embedItems = (ports: EmbedPorts, log: Logger): Embed => {
  const completedOnly: EmbedPorts = { ...ports, usage: onlyCompleted(ports.usage) };
  return ({ id, caller, model, texts, signal }) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const vectors = embedTexts(
        completedOnly,
        { exchange: { id, log, backpressure: new Backpressure() }, caller, route: filesRoute },
        { model, call: { inputs: texts, encoding: 'base64', dimensions: undefined } },
      );
      const abort = (): void => {
        running.unsubscribe();
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      const running = vectors.subscribe({ next: resolve, error: reject });
      running.add(() => signal.removeEventListener('abort', abort));
    });
};

/** A batch that failed is begun again under the same id: its event must be the one of its success. */
const onlyCompleted = (usage: UsageLog): UsageLog => ({
  record: (event) => (event.outcome === 'completed' ? usage.record(event) : EMPTY),
  ensureOpen: () => usage.ensureOpen(),
  close: () => usage.close(),
});
