/** Requests of the checks: JSON of a server, with its key, within a bound. */

import type { Replica } from './server.ts';

export const readJson = async <T>(url: string, key: string, body?: object): Promise<T> => {
  const response = await request(url, key, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} responded ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as T;
};

export const request = (url: string, key: string, body?: object, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    signal: signal ?? AbortSignal.timeout(120_000),
  });

/** The sum of a gauge of its metrics. */
export const runningByMetrics = async ({ origin, key }: Replica, gauge: string): Promise<number> => {
  const text = await (await request(`${origin}/metrics`, key)).text();
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith(`${gauge}{`) || line.startsWith(`${gauge} `));
  if (lines.length === 0) throw new Error(`${origin}/metrics has no ${gauge}`);
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
};
