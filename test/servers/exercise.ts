/** Starts a server twice and the gateway in front of it, runs every check that applies, and stops them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckResult } from '../clients/client.ts';
import { startBuiltGateway } from '../clients/gateway.ts';
import { openBench } from './check.ts';
import { checkChat } from './checks/chat.ts';
import { checkByCommand } from './checks/engine-check.ts';
import { checkFailover, checkFailures } from './checks/failures.ts';
import { checkMessages } from './checks/messages.ts';
import { checkRouting } from './checks/routing.ts';
import { checkTexts } from './checks/texts.ts';
import { checkTools } from './checks/tools.ts';
import { configOf } from './config.ts';
import { record } from './record.ts';
import { type RunningReplica, startReplica } from './replica.ts';
import type { ModelServer } from './server.ts';
import { ggufFile } from './toys/gguf.ts';
import { writeHuggingFace } from './toys/hugging-face.ts';

const key = 'sk-toy-0123456789';

export interface ExerciseOptions {
  readonly slug: string;
  readonly server: ModelServer;
  readonly installed: string;
  /** Whether its responses replace the fixtures. */
  readonly recording: boolean;
  readonly onResult: (result: CheckResult) => void;
}

export const exercise = async (options: ExerciseOptions): Promise<readonly CheckResult[]> => {
  const { slug, server, installed, recording } = options;
  const folder = mkdtempSync(join(tmpdir(), `sluice-${slug}-`));
  const results: CheckResult[] = [];
  const stops: (() => Promise<void>)[] = [];
  const report = Object.assign(results, {
    push(...more: CheckResult[]) {
      for (const result of more) options.onResult(result);
      return Array.prototype.push.apply(results, more);
    },
  });
  const begun = performance.now();
  try {
    const toys = writeToys(folder, server.window);
    const start = async (models: ModelServer['models']): Promise<RunningReplica> => {
      const replica = await startReplica(server, models, { installed, toys, folder, key });
      stops.push(() => replica.kill());
      return replica;
    };
    const writers = [];
    for (let number = 0; number < 2; number++)
      writers.push(await start(server.oneProcess === true ? server.models : ['writer']));
    const search = server.oneProcess === true ? writers[0] : await start(['search']);
    if (search === undefined) throw new Error('no replica');
    if (recording) await record(slug, server, { writer: writers[0] ?? search, search });
    const gateway = await startBuiltGateway({
      config: configOf(server, {
        writer: writers.map(({ origin }) => origin),
        search: [search.origin],
      }),
      env: { TOY_KEY: key, WRONG_KEY: 'sk-wrong' },
    });
    stops.push(() => gateway.stop());
    report.push({ name: 'starts', seconds: (performance.now() - begun) / 1000, problem: undefined });
    const bench = openBench({ server, gateway, writers, search }, report);
    await checkChat(bench);
    await checkTools(bench);
    await checkTexts(bench);
    if (server.traits.messagesEngine !== undefined) await checkMessages(bench);
    if (server.traits.prefixCache) await checkRouting(bench);
    await checkByCommand(bench);
    await checkFailures(bench);
    await checkFailover(bench);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    report.push({ name: 'all checks ran', seconds: 0, problem });
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return results;
};

const writeToys = (folder: string, window: number): string => {
  const toys = join(folder, 'toys');
  for (const role of ['writer', 'search'] as const) {
    writeHuggingFace(join(toys, role), window, role);
    writeFileSync(join(toys, `${role}.gguf`), ggufFile(window, role));
  }
  return toys;
};
