/** Ollama, built from its Go module. The module lacks three header files, which a source package of llama.cpp has. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds } from '../cpu-time.ts';
import type { ModelServer } from '../server.ts';
import { endToken } from '../toys/bigram.ts';
import { ollama as template } from '../toys/template.ts';

const packages = { 'github.com/ollama/ollama': '0.17.4', 'llama-cpp-python': '0.3.17' };
const headers = ['miniaudio', 'nlohmann', 'stb'];

const modelfile = (model: string): string => `FROM ${model}
TEMPLATE """${template}"""
PARAMETER stop "${endToken}"
`;

export default {
  name: 'Ollama',
  version: packages['github.com/ollama/ollama'],
  packages,
  async install({ folder, run }) {
    await run('go', ['version']);
    const source = `llama-cpp-python==${packages['llama-cpp-python']}`;
    await run('python3', ['-m', 'pip', 'download', '-q', '--no-deps', '--no-binary', ':all:', source]);
    const archive = readdirSync(folder).find((name) => name.endsWith('.tar.gz')) ?? '';
    const wanted = headers.map((name) => `*/vendor/llama.cpp/vendor/${name}/*`);
    mkdirSync(join(folder, 'include'));
    await run('tar', ['xzf', archive, '-C', 'include', '--strip-components=4', '--wildcards', ...wanted]);
    await run('rm', [archive]);
    const version = `v${packages['github.com/ollama/ollama']}`;
    await run('go', ['install', '-ldflags', '-s -w', `github.com/ollama/ollama@${version}`], {
      env: { GOBIN: join(folder, 'bin'), CGO_CPPFLAGS: `-I${join(folder, 'include')}` },
    });
  },
  guide: 'Ollama',
  models: ['writer', 'search'],
  oneProcess: true,
  start: ({ installed, folder, port, window }) => ({
    program: join(installed, 'bin', 'ollama'),
    args: ['serve'],
    env: {
      OLLAMA_HOST: `127.0.0.1:${port}`,
      OLLAMA_MODELS: join(folder, 'models'),
      OLLAMA_CONTEXT_LENGTH: String(window),
      OLLAMA_NUM_PARALLEL: '4',
      OLLAMA_KEEP_ALIVE: '-1',
    },
  }),
  async prepare(_origin, { installed, toys, folder, models, port }, run) {
    const file = join(folder, 'Modelfile');
    for (const model of models) {
      writeFileSync(file, modelfile(join(toys, `${model}.gguf`)));
      await run(join(installed, 'bin', 'ollama'), ['create', model, '-f', file], {
        OLLAMA_HOST: `127.0.0.1:${port}`,
      });
    }
  },
  readyPath: '/api/version',
  startSeconds: 120,
  window: 16384,
  // It has no number for it: a group that uses no CPU time works on nothing.
  running: async ({ group }) => ((await cpuSeconds(group, 0.5)) > 0.1 ? 1 : 0),
  traits: {
    forcedCalls: 'none',
    reasoning: false,
    continues: false,
    refusesLongPrompts: false,
    rerank: false,
    decisions: false,
    prefixCache: false,
    keys: false,
  },
} satisfies ModelServer;
