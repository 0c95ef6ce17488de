/** Opens the catalog and its engines, and keeps both in step with `sluice.yaml`. */
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Logger } from 'pino';
import { openCatalog } from './catalog/watch.ts';
import { createCodec } from './codec/codec.ts';
import type { Config } from './config.ts';
import { createEngines, type EngineTable } from './engines/table.ts';
import { createMedia } from './media/media.ts';
import type { Opened } from './opened.ts';
import type { Codec } from './ports/codec.ts';
import type { Media } from './ports/media.ts';
import { createSimulator } from './simulator/simulator.ts';

export interface EngineSide {
  readonly catalog: ReturnType<typeof openCatalog>;
  readonly engines: EngineTable;
  readonly media: Media;
  readonly codec: Codec;
}

export const openEngines = (config: Config, log: Logger, opened: Opened): EngineSide => {
  const catalog = opened.add(
    openCatalog({ file: config.configFile, log, onConfig: (next) => engines.replace(next.engines) }),
  );
  const media = opened.add(createMedia({ allowPrivate: config.allowPrivateUrls }));
  const codec = opened.add(createCodec());
  checkTemporaryFolder(log);
  const engines = opened.add(
    createEngines(catalog.config().engines, {
      simulator: createSimulator({ codec }),
      log,
      env: process.env,
      media,
      codec,
    }),
  );
  return { catalog, engines, media, codec };
};

/** A container's root may be read-only: reported at start rather than by the first render that fails. */
const checkTemporaryFolder = (log: Logger): void => {
  try {
    accessSync(tmpdir(), constants.W_OK);
  } catch (error) {
    const folder = tmpdir();
    log.warn({ folder, err: error }, 'temporary folder not writable: audio and video will fail; set TMPDIR');
  }
};
