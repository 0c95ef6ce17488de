/** opencode, one prompt a run: `opencode run`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Output, RunOptions } from '../client.ts';
import { tail } from '../processes.ts';
import { answerWith, callTool, expectPrinted, expectRefused, longText, sum } from './simulated.ts';

const client: Client = {
  name: 'opencode',
  registry: 'npm',
  packages: { 'opencode-ai': '1.18.33' },
  // Its postinstall script puts the binary of this platform into place.
  scripts: true,
  async run(site) {
    writeFileSync(join(site.folder, 'opencode.json'), site.block('config'));
    // It would load its list of models and packages for plugins.
    const env = { OPENCODE_DISABLE_MODELS_FETCH: '1', npm_config_offline: 'true' };
    // Words of a prompt in arguments are quoted by opencode; standard input is taken as it is.
    const opencode = (
      model: string,
      input: string,
      args: readonly string[] = [],
      options: RunOptions = {},
    ): Promise<Output> =>
      site.run('opencode', ['run', '--model', `sluice/${model}`, ...args], {
        input,
        ...options,
        env: { ...env, ...options.env },
      });

    await site.check('docs: config and run', async () => {
      expectPrinted(await site.runBlock('run', { env }), /You asked about tides/);
    });

    for (const model of ['sluice/chat', 'sluice/reasoner']) {
      await site.check(`${model}: one answer`, async () => {
        expectPrinted(await opencode(model, answerWith('Four words are here.')), 'Four words are here.');
      });
      await site.check(`${model}: runs a command`, async () => {
        const prompt = callTool('bash', { command: sum.command, description: 'Adds' });
        expectPrinted(await opencode(model, prompt), new RegExp(`According to bash: ${sum.result}\\.`));
      });
    }

    await site.check('reads a file', async () => {
      const filePath = join(site.folder, 'note.txt');
      writeFileSync(filePath, 'The harbour has 8812 lamps.\n');
      const output = await opencode('sluice/chat', callTool('read', { filePath }));
      expectPrinted(output, /According to read: [\s\S]*The harbour has 8812 lamps\./);
    });

    await site.check('a wrong key ends at once', async () => {
      const options = { env: { SLUICE_KEY: 'sk-sluice-wrong' }, seconds: 45, allowFailure: true };
      expectRefused(await opencode('sluice/chat', 'Hello', [], options), /Invalid API key/);
    });

    await site.check('a conversation that fills the context window is compacted', async () => {
      const turn = (number: number, args: readonly string[], options?: RunOptions) =>
        opencode('sluice/reasoner-lite', `/sim text="turn ${number}"\n${longText(9000)}`, args, options);
      expectPrinted(await turn(1, []), 'turn 1');
      expectPrinted(await turn(2, ['--continue']), 'turn 2');
      // It says what went wrong, compacts, answers, and still ends with code 1.
      const third = await turn(3, ['--continue'], { allowFailure: true });
      expectPrinted(third, /^turn 3$/m);
      if (!third.stderr.includes('prompt is too long'))
        throw new Error(`it did not overflow\n${tail(third)}`);
    });
  },
};

export default client;
