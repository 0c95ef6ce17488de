/** Metric families of resumable streams. */
import type { StreamStats } from '../ports/streams.ts';
import { counter, gauge, type MetricFamily } from './exposition.ts';

export const streamFamilies = (stats: StreamStats): readonly MetricFamily[] => [
  gauge(
    'sluice_streams',
    'Resumable streams: running with a reader, running without one, ended and kept.',
    (['attached', 'detached', 'ended'] as const).map((state) => ({ labels: { state }, value: stats[state] })),
  ),
  gauge('sluice_stream_log_bytes', 'Bytes of their logs, in memory and on disk.', [
    { labels: { place: 'memory' }, value: stats.memoryBytes },
    { labels: { place: 'disk' }, value: stats.diskBytes },
  ]),
  counter('sluice_stream_resumed_total', 'Readers that came back to a stream.', stats.resumed),
  counter('sluice_stream_abandoned_total', 'Streams cancelled because nobody came back.', stats.abandoned),
  counter('sluice_stream_cancelled_total', 'Streams cancelled by a client.', stats.cancelled),
  counter('sluice_stream_paused_total', 'Times that a full log paused its engine.', stats.paused),
  counter('sluice_stream_refused_total', 'Streams refused for want of room.', stats.refused),
  counter('sluice_stream_lost_total', 'Streams of a gateway that died, ended here.', stats.lost),
];
