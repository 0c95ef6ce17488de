/** Attacks by an engine: an answer that comes a byte at a time. */
import { startDripEngine } from '../doubles/drip-engine.ts';
import { inLoops } from '../requests.ts';
import type { Row } from '../row.ts';

const catalog = ({ attacker }: { readonly attacker: number }): string => `engines:
  drip:
    wire: openai
    replicas: ['http://127.0.0.1:${attacker}/v1']
models:
  attack/drip: { engine: drip, context_length: 8192 }
  sluice/chat: { engine: simulator, context_length: 131072 }
`;

const calls = 16;

const engineDrip: Row = {
  name: 'engine-drip',
  title: `${calls} answers of an engine, each a byte at a time and without an end`,
  victim: 'chat',
  maxRss: 256,
  // Its memory grows with each byte: by a hundred times as much.
  seconds: 25,
  attackerRpm: 600,
  gateway: { catalog },
  attack: async (target) => {
    const engine = await startDripEngine(target.enginePort, target.signal);
    const body = JSON.stringify({ model: 'attack/drip', messages: [{ role: 'user', content: 'Hello' }] });
    const report = await inLoops(target, calls, () => ({ path: '/chat/completions', body }));
    await engine.close();
    return { ...report, bytes: engine.bytes };
  },
};

export const engineRows: readonly Row[] = [engineDrip];
