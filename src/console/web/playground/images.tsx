/** Images from a prompt, or from a prompt and other images. */
import { useState } from 'preact/hooks';
import { LinkButton } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { FileField, TextArea, TextField } from '../ui/field.tsx';
import { duration, money } from '../ui/format.ts';
import type { Call } from './call.ts';
import { Bench, Facts, type ModalityProps, numberOf, RunForm, useModel } from './parts.tsx';
import { sendJson } from './send.ts';
import { useRun } from './use-run.ts';

interface Images {
  readonly data: readonly { readonly b64_json: string; readonly media_type: string }[];
  readonly size: string;
  readonly usage: { readonly cost: number; readonly megapixels: number };
}

const types: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};

const ImagesPlay = ({ models }: ModalityProps) => {
  const { model, field } = useModel(models);
  const [prompt, setPrompt] = useState('A lighthouse at dusk');
  const [size, setSize] = useState('1024x1024');
  const [amount, setAmount] = useState('1');
  const [seed, setSeed] = useState('');
  const [sources, setSources] = useState<readonly File[]>([]);
  const [result, setResult] = useState<{ readonly images: Images; readonly tookMs: number }>();
  const run = useRun();
  const takesImages = model.architecture.input_modalities.includes('image');
  const texts = {
    ...{ model: model.id, prompt, response_format: 'b64_json' },
    size: size.trim() === '' ? undefined : size.trim(),
    n: numberOf(amount),
    seed: numberOf(seed),
  };
  const call: Call =
    takesImages && sources.length > 0
      ? {
          path: '/images/edits',
          form: [
            ...Object.entries(texts).flatMap(([name, value]) =>
              value === undefined ? [] : [[name, String(value)] as const],
            ),
            ...sources.map((file) => ['image[]', file] as const),
          ],
          result: { kind: 'json' },
        }
      : { path: '/images/generations', json: texts, result: { kind: 'json' } };
  const create = (): void =>
    run.start(async (signal) => {
      const begun = performance.now();
      setResult(undefined);
      const images = await sendJson<Images>(call, signal);
      setResult({ images, tookMs: performance.now() - begun });
    });
  return (
    <Bench
      call={call}
      form={
        <RunForm run={run} action="Create" onSend={create} ready={prompt.trim() !== ''}>
          {field}
          <TextArea label="Prompt" value={prompt} onChange={setPrompt} />
          <div class="grid">
            <TextField label="Size" value={size} onChange={setSize} placeholder="1024x1024" />
            <TextField label="Images" type="number" min={1} max={10} value={amount} onChange={setAmount} />
            <TextField label="Seed" type="number" step={1} value={seed} onChange={setSeed} />
          </div>
          {takesImages && (
            <FileField label="Images to edit" accept="image/*" multiple onChange={setSources} />
          )}
        </RunForm>
      }
      result={
        result === undefined ? (
          <Empty>The images appear here.</Empty>
        ) : (
          <div class="stack results">
            <Facts
              of={{
                Size: result.images.size,
                Megapixels: String(result.images.usage.megapixels),
                Cost: money(result.images.usage.cost),
                Took: duration(result.tookMs),
              }}
            />
            {result.images.data.map(({ b64_json, media_type }, index) => {
              const source = `data:${media_type};base64,${b64_json}`;
              return (
                <figure key={index} class="stack tight">
                  <img src={source} alt={`${index + 1} of ${result.images.data.length} for: ${prompt}`} />
                  <div>
                    <LinkButton href={source} download={`image-${index + 1}.${types[media_type] ?? 'img'}`}>
                      Save
                    </LinkButton>
                  </div>
                </figure>
              );
            })}
          </div>
        )
      }
    />
  );
};

export default ImagesPlay;
