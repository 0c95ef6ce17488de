/** Tests what the pages say of a model. */
import t from 'tap';
import type { ModelEntry } from '../../schemas/model-entry.ts';
import {
  abilitiesOf,
  kindOf,
  matches,
  pricesOf,
  priceText,
} from '../../src/console/web/pages/models/describe.ts';
import { bytes, duration, money, percent } from '../../src/console/web/ui/format.ts';

const model = (
  [input, output]: readonly [string, string],
  pricing: ModelEntry['pricing'],
  parameters: readonly string[] = [],
): ModelEntry => ({
  ...{ id: 'a/b', object: 'model', owned_by: 'a', canonical_slug: 'a/b', hugging_face_id: null, name: 'B' },
  ...{ created: 0, description: 'Some <b>model</b>', context_length: 4096 },
  architecture: {
    ...{ modality: `${input}->${output}`, tokenizer: 'other', instruct_type: null },
    input_modalities: input.split('+'),
    output_modalities: [output],
  },
  pricing,
  top_provider: { context_length: 4096, max_completion_tokens: null, is_moderated: false },
  ...{ per_request_limits: null, supported_parameters: [...parameters], default_parameters: null },
  ...{ supported_voices: null, links: { details: '' } },
});

t.test('prices are for a million tokens, a megapixel or a second', async (t) => {
  const chat = model(['text+image', 'text'], {
    ...{ prompt: '0.0000003', completion: '0.0000012' },
    ...{ internal_reasoning: '0', input_cache_read: '0.00000003' },
  });
  t.strictSame(pricesOf(chat), [
    { what: 'input', amount: '$0.30', unit: 'million tokens' },
    { what: 'output', amount: '$1.20', unit: 'million tokens' },
    { what: 'cached input', amount: '$0.03', unit: 'million tokens' },
  ]);
  t.equal(priceText(chat), '$0.30 input · $1.20 output per million tokens');
  t.equal(priceText(model(['text', 'image'], { prompt: '0', completion: '0.005' })), '$0.005 per megapixel');
  t.equal(
    priceText(model(['audio', 'transcription'], { prompt: '0.0001', completion: '0' })),
    '$0.0001 per second',
  );
  t.equal(priceText(model(['text', 'text'], { prompt: '0', completion: '0' })), 'free');
});

t.test('kinds, abilities and the filter', async (t) => {
  const vision = model(['text+image', 'text'], { prompt: '0', completion: '0' }, [
    'tools',
    'structured_outputs',
    'seed',
  ]);
  t.equal(kindOf(vision), 'chat');
  t.strictSame(abilitiesOf(vision), ['reads image', 'tools', 'JSON schema']);
  t.ok(matches(vision, ''));
  t.ok(matches(vision, ' Image  TOOLS '));
  t.notOk(matches(vision, 'image music'));
});

t.test('numbers for people', async (t) => {
  t.strictSame([0, 12.5, 0.3, 0.025, 0.000123456, '1'].map(money), [
    '$0',
    '$12.50',
    '$0.30',
    '$0.025',
    '$0.000123',
    '$1.00',
  ]);
  t.strictSame([0, 999, 1_500, 2_000_000].map(bytes), ['0 B', '999 B', '1.5 KB', '2.0 MB']);
  t.strictSame([5, 1_500, 61_000, 3_661_000].map(duration), ['5 ms', '1.5 s', '1 min 1 s', '1 h 1 min']);
  t.strictSame([0, 0.054, 0.5, 1].map(percent), ['0 %', '5.4 %', '50 %', '100 %']);
});
