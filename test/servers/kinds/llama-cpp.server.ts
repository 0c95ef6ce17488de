/** llama.cpp's own HTTP server, from the Python package that contains it. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJson } from '../read-json.ts';
import type { ModelServer } from '../server.ts';

const script = fileURLToPath(new URL('./llama-cpp.py', import.meta.url));

export default {
  name: 'llama.cpp',
  version: '11549',
  packages: { xllamacpp: '2026.10.11549' },
  install: ({ venv }) => venv(['xllamacpp==2026.10.11549']),
  guide: 'llama.cpp',
  models: ['writer', 'search'],
  start: ({ installed, toys, port, key, models: [model = 'writer'], window }) => ({
    program: join(installed, 'bin', 'python'),
    args: [script, join(toys, `${model}.gguf`), model, String(port), key, String(window)],
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  }),
  readyPath: '/health',
  startSeconds: 60,
  window: 16384,
  running: async ({ origin, key }) => {
    const slots = await readJson<readonly { is_processing: boolean }[]>(`${origin}/slots`, key);
    return slots.filter(({ is_processing }) => is_processing).length;
  },
  // It looks for a closed connection only in a second without any result, and a list of slots is one.
  pollSeconds: 2.5,
  traits: {
    forcedCalls: 'required',
    reasoning: false,
    continues: true,
    refusesLongPrompts: true,
    messagesEngine: 'llama-messages',
    rerank: false,
    decisions: false,
    tokenizer: 'llama.cpp',
    prefixCache: false,
    keys: true,
  },
} satisfies ModelServer;
