/** Reads the engine's request stats. */
import http from 'node:http';
import type { EngineStats } from '../engine.ts';
import { seconds } from './window.ts';

const send = (port: number, method: string, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    http
      .request({ host: '127.0.0.1', port, method, path, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve(text));
      })
      .on('error', reject)
      .end();
  });

export const readStats = async (enginePort: number): Promise<EngineStats> =>
  JSON.parse(await send(enginePort, 'GET', '/stats')) as EngineStats;

export const resetStats = async (enginePort: number): Promise<void> => {
  await send(enginePort, 'POST', '/reset');
};

/** Polls until the condition holds or the timeout; returns the last stats. */
export const statsWhen = async (
  enginePort: number,
  condition: (stats: EngineStats) => boolean,
  withinSeconds: number,
): Promise<EngineStats> => {
  const until = performance.now() + withinSeconds * 1000;
  for (;;) {
    const stats = await readStats(enginePort);
    if (condition(stats) || performance.now() > until) return stats;
    await seconds(0.02);
  }
};
