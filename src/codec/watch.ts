/** Logs once which ffmpeg is used and how it is confined, and keeps that for metrics. */
import type { Logger } from 'pino';
import { type CodecInfo, findProvider, type ProviderOptions } from './provider.ts';

export interface CodecWatch {
  /** Undefined until it was found. */
  current(): CodecInfo | undefined;
  /** Called once the service has started: nothing waits for it. Undefined when none can be used. */
  look(): Promise<CodecInfo | undefined>;
}

export const watchCodec = (options: ProviderOptions, log: Logger): CodecWatch => {
  let found: CodecInfo | undefined;
  return {
    current: () => found,
    look: async () => {
      try {
        const { command: _, ...info } = await findProvider(options);
        found = info;
        if (info.sandbox === 'none') log.warn(info, 'codec not confined');
        else log.info(info, 'codec found');
      } catch (error) {
        log.error({ err: error }, 'codec missing: sounds and films will fail');
      }
      return found;
    },
  };
};
