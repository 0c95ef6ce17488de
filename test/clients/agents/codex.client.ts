/** Codex CLI, one prompt a run: `codex exec`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Output, RunOptions } from '../client.ts';
import { answerWith, callTool, expectPrinted, expectRefused, sum } from './simulated.ts';

/** The part of Codex's own list of models that is changed here. */
interface KnownModels {
  readonly models: readonly { readonly slug: string }[];
}

const client: Client = {
  name: 'Codex CLI',
  registry: 'npm',
  packages: { '@openai/codex': '0.166.0' },
  async run(site) {
    const home = join(site.folder, '.codex');
    mkdirSync(home);
    writeFileSync(join(home, 'config.toml'), site.block('config'));

    const codex = (
      model: string,
      input: string,
      args: readonly string[] = [],
      options?: RunOptions,
    ): Promise<Output> => {
      // Commands run without Codex's sandbox: containers often do not allow one inside.
      const fixed = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', '--model', model];
      return site.run('codex', [...fixed, ...args, '-'], { input, ...options });
    };

    /** Codex sends other tools for models that it knows: ours is given what it knows of another. */
    const knownAs = async (known: string, model: string): Promise<readonly string[]> => {
      const { stdout } = await site.run('codex', ['debug', 'models']);
      const { models } = JSON.parse(stdout) as KnownModels;
      const description = models.find(({ slug }) => slug === known);
      if (description === undefined) throw new Error(`Codex does not know ${known}`);
      const file = join(site.folder, `${known}.json`);
      writeFileSync(file, JSON.stringify({ models: [{ ...description, slug: model }] }));
      return ['-c', `model_catalog_json=${JSON.stringify(file)}`];
    };

    await site.check('docs: config and run', async () => {
      expectPrinted(await site.runBlock('run'), /You asked about tides/);
    });

    for (const model of ['sluice/chat', 'sluice/reasoner']) {
      await site.check(`${model}: one answer`, async () => {
        expectPrinted(await codex(model, answerWith('Four words are here.')), 'Four words are here.');
      });
      await site.check(`${model}: runs a command`, async () => {
        const output = await codex(model, callTool('exec_command', { cmd: sum.command }));
        expectPrinted(output, new RegExp(`According to exec_command: [\\s\\S]*\\b${sum.result}\\b`));
      });
    }

    // Engines, so the simulator too, get tools of a namespace with its name before theirs.
    await site.check('calls a tool of a namespace', async () => {
      const prompt = callTool('multi_agent_v1__close_agent', { target: 'nobody' });
      const expected = /According to multi_agent_v1__close_agent: invalid agent id nobody/;
      expectPrinted(await codex('sluice/chat', prompt), expected);
    });

    await site.check('calls a custom tool', async () => {
      const known = await knownAs('gpt-5.5', 'sluice/reasoner');
      const file = join(site.folder, 'patched.txt');
      const patch = `*** Begin Patch\n*** Add File: ${file}\n+made by a patch\n*** End Patch\n`;
      const output = await codex('sluice/reasoner', callTool('apply_patch', { input: patch }), known);
      expectPrinted(output, /According to apply_patch: [\s\S]*Success/);
      const content = readFileSync(file, 'utf8');
      if (content !== 'made by a patch\n') throw new Error(`${file} has ${content}`);
    });

    await site.check('runs code, for models with that as their only tool', async () => {
      const known = await knownAs('gpt-6.1-sol', 'sluice/reasoner');
      const code = `const result = await tools.exec_command({ cmd: ${JSON.stringify(sum.command)} });\ntext(result);`;
      const output = await codex('sluice/reasoner', callTool('functions__exec', { input: code }), known);
      expectPrinted(output, new RegExp(`According to functions__exec: [\\s\\S]*\\b${sum.result}\\b`));
    });

    await site.check('a wrong key ends after a few attempts', async () => {
      const options = { env: { SLUICE_KEY: 'sk-sluice-wrong' }, seconds: 30, allowFailure: true };
      expectRefused(await codex('sluice/chat', 'Hello', [], options), /401 Unauthorized/);
    });

    await site.check('a full context window is reported', async () => {
      const output = await codex('sluice/chat-small', 'Hello', [], { allowFailure: true });
      expectRefused(output, /context window|maximum context length/);
    });
  },
};

export default client;
