/** Names, types and texts of every metric family, of a gateway that was started for it and of other processes. */

import { counter, exposition } from '../../src/metrics/exposition.ts';
import { readingFamilies } from '../../src/metrics/service-families.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

export const everyFamily = async (): Promise<readonly Family[]> => {
  const gateway = await startGateway({
    env: { SLUICE_ADMIN_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
  });
  // Looking for ffmpeg takes a moment.
  const text = await eventually(async () => {
    const found = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    return found.includes('sluice_codec_info') && found;
  }, 'ffmpeg is found');
  await gateway.stop();
  const reading = { reading: true, batches: 0, messages: 0, deadLetters: 0, retries: 0, lag: [] };
  // What only readers of Kafka have, and what only the first of several processes has.
  const elsewhere = [
    ...readingFamilies(reading),
    counter('sluice_process_deaths_total', 'Gateway processes that ended unasked.', 0),
    counter('sluice_process_hangs_total', 'Gateways that sent no heartbeat in time and were killed.', 0),
  ];
  const all = `${text}${exposition(elsewhere)}`;
  const helps = new Map(
    [...all.matchAll(/^# HELP (\w+) (.*)$/gm)].map(([, name = '', help = '']) => [name, help]),
  );
  return [...all.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
    help: helps.get(name) ?? '',
  }));
};
