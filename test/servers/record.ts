/** Records what a server sends as fixtures: the bytes of each response, and a list of the requests. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from './read-json.ts';
import { recordingsOf } from './recordings.ts';
import type { ModelServer, Replica } from './server.ts';

export const fixturesFolder = fileURLToPath(new URL('../fixtures/engines', import.meta.url));

/** A line of `index.json`. */
export interface Recorded {
  readonly name: string;
  readonly kind: string;
  readonly file: string;
  readonly path: string;
  readonly status: number;
  /** Long ones are shortened. */
  readonly body: { readonly stream?: boolean; readonly [field: string]: unknown };
}

/** Of a string in a recorded request: that a prompt was too long needs no proof. */
const mostCharacters = 200;

export const record = async (
  slug: string,
  server: ModelServer,
  replicas: Readonly<Record<'writer' | 'search', Replica>>,
): Promise<void> => {
  const folder = join(fixturesFolder, `${slug}-${server.version}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const recorded: Recorded[] = [];
  for (const { name, kind, path, body, model, wrongKey } of recordingsOf(server)) {
    const { origin, key } = replicas[model];
    const response = await request(`${origin}${path}`, wrongKey ? 'sk-wrong' : key, body);
    const bytes = Buffer.from(await response.arrayBuffer());
    // Some answer under any name, for example.
    if (kind === 'error' && response.ok) continue;
    if (kind !== 'error' && !response.ok)
      throw new Error(`${path} responded ${response.status} to ${name}: ${bytes.toString().slice(0, 300)}`);
    const streams = body.stream === true && response.ok;
    const file = `${name}.${streams ? 'sse' : 'json'}`;
    writeFileSync(join(folder, file), bytes);
    recorded.push({ name, kind, file, path, status: response.status, body: shortened(body) });
  }
  const index = { server: server.name, version: server.version, packages: server.packages, recorded };
  writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
};

const shortened = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value, (_, field: unknown) =>
      typeof field === 'string' && field.length > mostCharacters
        ? `${field.slice(0, mostCharacters)}… (${field.length} characters)`
        : field,
    ),
  ) as T;
