/** Claude Code, one prompt a run: `claude -p`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pdf, shown } from '../../offload/sample-documents.ts';
import type { Client, Output, RunOptions } from '../client.ts';
import { answerWith, callTool, expectPrinted, expectRefused, longText, sum } from './simulated.ts';

/** Of `claude -p --output-format json`. */
interface Result {
  readonly is_error: boolean;
  readonly result: string;
  readonly num_turns: number;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

const client: Client = {
  name: 'Claude Code',
  registry: 'npm',
  packages: { '@anthropic-ai/claude-code': '2.1.325' },
  // Its postinstall script puts the binary of this platform into place.
  scripts: true,
  async run(site) {
    const settings = (model: string, key = site.key) => ({
      ANTHROPIC_BASE_URL: site.origin,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    });
    const claude = (
      model: string,
      input: string,
      args: readonly string[] = [],
      options: RunOptions & { readonly key?: string } = {},
    ): Promise<Output> =>
      site.run('claude', ['-p', ...args], { env: settings(model, options.key), input, ...options });

    await site.check('docs: run', async () => {
      expectPrinted(await site.runBlock('run'), /You asked about tides/);
    });

    for (const model of ['sluice/chat', 'sluice/reasoner']) {
      await site.check(`${model}: one answer`, async () => {
        expectPrinted(await claude(model, answerWith('Four words are here.')), 'Four words are here.');
      });
      await site.check(`${model}: runs a command`, async () => {
        const args = ['--allowedTools', 'Bash', '--output-format', 'json'];
        const { stdout } = await claude(model, callTool('Bash', { command: sum.command }), args);
        const { is_error, num_turns, result, usage } = JSON.parse(stdout) as Result;
        const isRight = !is_error && num_turns === 2 && result.includes(`According to Bash: ${sum.result}.`);
        if (!isRight || usage.input_tokens === 0 || usage.output_tokens === 0) throw new Error(stdout);
      });
    }

    await site.check('shows text as it is generated', async () => {
      const args = ['--output-format', 'stream-json', '--include-partial-messages', '--verbose'];
      const { stdout } = await claude('sluice/reasoner', answerWith('Four words are here.'), args);
      const deltas = stdout.split('\n').filter((line) => line.includes('"type":"text_delta"'));
      if (deltas.length < 4) throw new Error(stdout);
    });

    await site.check('reads a PDF', async () => {
      const file = join(site.folder, 'harbour.pdf');
      writeFileSync(file, pdf([shown('The harbour has 8812 lamps.')]));
      const prompt = callTool('Read', { file_path: file }, 'How many lamps?');
      expectPrinted(
        await claude('sluice/chat', prompt, ['--allowedTools', 'Read']),
        /The harbour has 8812 lamps\./,
      );
    });

    await site.check('a wrong key ends at once', async () => {
      const options = { key: 'sk-sluice-wrong', seconds: 20, allowFailure: true };
      expectRefused(await claude('sluice/chat', 'Hello', [], options), /API key|401/);
    });

    await site.check('a full context window is recognised', async () => {
      const output = await claude('sluice/chat-small', 'Hello', [], { allowFailure: true });
      expectRefused(output, /Prompt is too long/);
    });

    await site.check('a conversation that fills the context window is compacted', async () => {
      const model = 'sluice/reasoner-lite';
      const prompt = (turn: number) => `/sim text="turn ${turn}"\n${longText(9000)}`;
      for (const turn of [1, 2, 3]) {
        const args = turn === 1 ? [] : ['--continue'];
        expectPrinted(await claude(model, prompt(turn), args), `turn ${turn}`);
      }
    });
  },
};

export default client;
