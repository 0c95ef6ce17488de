/** One model: its names, limits, prices and parameters. */
import type { ModelEntry } from '../../../../../schemas/model-entry.ts';
import { linkTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { count } from '../../ui/format.ts';
import { abilitiesOf, kindOf, pricesOf } from './describe.ts';

const Words = ({ words, none }: { readonly words: readonly string[]; readonly none: string }) =>
  words.length === 0 ? (
    <p class="muted">{none}</p>
  ) : (
    <div class="row">
      {words.map((word) => (
        <Badge key={word}>{word}</Badge>
      ))}
    </div>
  );

const Fact = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div class="row spread">
    <dt class="muted">{name}</dt>
    <dd>{value}</dd>
  </div>
);

export const ModelDetails = ({ model }: { readonly model: ModelEntry }) => (
  <>
    <PageHead
      title={model.name}
      intro={model.description}
      actions={
        <>
          <LinkButton href={linkTo(['models'])}>All models</LinkButton>
          <LinkButton kind="primary" href={linkTo(['playground'], { model: model.id })}>
            Try it
          </LinkButton>
        </>
      }
    />
    <div class="row">
      <code>{model.id}</code>
      <CopyButton text={model.id} name="the id" />
      <Badge tone="accent">{kindOf(model)}</Badge>
    </div>
    <div class="grid">
      <Card title="Limits">
        <dl class="stack tight">
          <Fact name="Context" value={tokens(model.context_length)} />
          <Fact name="Longest response" value={tokens(model.top_provider.max_completion_tokens)} />
          {Object.entries(model.per_request_limits ?? {}).map(([name, value]) => (
            <Fact key={name} name={name} value={count(value)} />
          ))}
          <Fact name="Reads" value={model.architecture.input_modalities.join(', ')} />
          <Fact name="Writes" value={model.architecture.output_modalities.join(', ')} />
        </dl>
      </Card>
      <Card title="Prices">
        <dl class="stack tight">
          {pricesOf(model).map(({ what, amount, unit }) => (
            <Fact key={what} name={what} value={`${amount} per ${unit}`} />
          ))}
          {pricesOf(model).length === 0 && <Fact name="every call" value="free" />}
        </dl>
      </Card>
      <Card title="Can do">
        <Words words={abilitiesOf(model)} none="Text only." />
        {model.reasoning !== undefined && (
          <p>
            Reasoning {model.reasoning.mandatory ? 'always' : 'optional'}; efforts{' '}
            {(model.reasoning.supported_efforts ?? []).join(', ')}.
          </p>
        )}
      </Card>
    </div>
    {model.supported_voices !== null && (
      <Card title="Voices">
        <Words words={model.supported_voices} none="None." />
      </Card>
    )}
    <Card title="Parameters">
      <Words words={model.supported_parameters} none="None." />
    </Card>
  </>
);

const tokens = (value: number | null): string => (value === null ? '–' : `${count(value)} tokens`);
