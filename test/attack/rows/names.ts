/** Attacks by host names: the attacker's nameserver never answers. */
import { inLoops } from '../requests.ts';
import type { Row } from '../row.ts';

/** 53 is the only port that the system's resolver uses. */
const nameserver = '127.0.0.77:53';
const pictures = 16;

const catalog = ({ victim }: { readonly victim: number }): string => `engines:
  named:
    wire: openai
    replicas: ['http://localhost:${victim}/v1']
models:
  attack/named: { engine: named, context_length: 8192 }
  sluice/vision: { engine: simulator, context_length: 65536, input_modalities: [text, image] }
`;

const silentNames: Row = {
  name: 'silent-names',
  title: `3 requests with ${pictures} \`image_url\` each, on names whose nameserver never answers`,
  victim: 'named',
  maxRss: 384,
  gateway: { nameserver, catalog },
  attack: (target) =>
    inLoops(target, 3, (number) => ({
      path: '/chat/completions',
      body: JSON.stringify({
        model: 'sluice/vision',
        messages: [
          {
            role: 'user',
            content: Array.from({ length: pictures }, (_, index) => ({
              type: 'image_url',
              image_url: { url: `https://n${number}-${index}.attack.example/picture.png` },
            })),
          },
        ],
      }),
    })),
};

export const nameRows: readonly Row[] = [silentNames];
