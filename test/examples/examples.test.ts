/** Runs each example with its real client against a gateway on the simulator. */
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { patiently } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { someOf } from '../long.ts';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
const tsx = ['--import', 'tsx'];
const noRequests =
  spawnSync('python3', ['-c', 'import requests']).status === 0
    ? false
    : 'python3 with the package requests is not on this machine';

const examples: readonly {
  readonly file: string;
  readonly program: string;
  readonly args?: readonly string[];
  readonly says: RegExp;
  readonly skip?: string | false;
}[] = [
  { file: 'curl.sh', program: 'bash', says: /\[DONE\].*"object":"list".*"group_by":\["model"\]/s },
  {
    file: 'openai.ts',
    program: process.execPath,
    args: tsx,
    says: /tool call: \[.*"water_level".*image: \d+ characters.*heard: The gates are open\./s,
  },
  { file: 'anthropic.ts', program: process.execPath, args: tsx, says: /\d+ tokens, end_turn/ },
  { file: 'openrouter.ts', program: process.execPath, args: tsx, says: /\w+ \w+/ },
  { file: 'ai-sdk.ts', program: process.execPath, args: tsx, says: /\d+ tokens/ },
  { file: 'video_job.py', program: 'python3', says: /\d+ bytes of video\/mp4, 4 s billed/, skip: noRequests },
];

t.test('examples', async (t) => {
  const gateway = await startGateway();
  t.teardown(() => gateway.stop());
  for (const { file, program, args = [], says, skip = false } of someOf(examples, 2))
    await t.test(file, { skip }, async (t) => {
      const child = spawn(program, [...args, `${folder}${file}`], {
        env: { ...process.env, SLUICE_URL: gateway.url, SLUICE_KEY: gateway.key },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: patiently(60_000),
      });
      let said = '';
      let complaint = '';
      child.stdout.on('data', (piece) => {
        said += piece;
      });
      child.stderr.on('data', (piece) => {
        complaint += piece;
      });
      const code = await new Promise((resolve) => child.once('close', resolve));
      t.equal(code, 0, complaint.slice(-1000));
      t.match(said, says);
    });
});
