/** Reads the blocks of docs/clients.md; each is marked with the client that runs it: ```python openai-python/chat. */
import { readFileSync } from 'node:fs';

export interface Block {
  readonly slug: string;
  readonly name: string;
  readonly language: string;
  readonly text: string;
}

const page = new URL('../../docs/clients.md', import.meta.url);

/** The address that the page uses; the suite puts that of its own gateway in its place. */
export const documentedOrigin = 'http://127.0.0.1:8787';

export const readBlocks = (markdown: string = readFileSync(page, 'utf8')): readonly Block[] => {
  const blocks = [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => {
    const [, language = '', slug = '', name = ''] = /^(\w+) ([\w-]+)\/([\w-]+)$/.exec(info) ?? [];
    if (slug === '')
      throw new Error(`docs/clients.md: a block is marked "${info}", not "language client/name"`);
    return { slug, name, language, text };
  });
  const ids = blocks.map(({ slug, name }) => `${slug}/${name}`);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new Error(`docs/clients.md: two blocks are marked ${twice}`);
  return blocks;
};
