/** One model or engine: what is wrong with it, and its row of `sluice.yaml` with every default. */
import type { AdminModelDetail } from '../../../../../schemas/admin/engines.ts';
import type { LiveEngine } from '../../../../../schemas/admin/live.ts';
import { linkTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Show } from '../../ui/loading.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { HealthBadge } from './badges.tsx';
import { EngineCard } from './engine-card.tsx';
import { loadEngine, loadModel } from './load.ts';
import { Problems } from './problems.tsx';

const Head = ({ title, intro }: { readonly title: string; readonly intro: string }) => (
  <PageHead
    title={title}
    intro={intro}
    actions={<LinkButton href={linkTo(['engines'])}>All models and engines</LinkButton>}
  />
);

const Row = ({ row }: { readonly row: unknown }) => (
  <Card title="Row of sluice.yaml">
    {row === null ? (
      <p class="muted">It needs none.</p>
    ) : (
      <>
        <p class="muted">As it is in effect, every default included. Values of headers are hidden.</p>
        <Code text={JSON.stringify(row, null, 2)} name="the row of sluice.yaml" />
      </>
    )}
  </Card>
);

export const EngineDetails = ({
  id,
  live,
}: {
  readonly id: string;
  /** As the last snapshot has it. */
  readonly live: LiveEngine | undefined;
}) => {
  const engine = useLoad((signal) => loadEngine(id, signal), [id]);
  return (
    <>
      <Head title={id} intro="An engine" />
      <Show of={engine}>
        {(detail) => (
          <>
            <EngineCard engine={live ?? { ...detail, tokens_per_second: null }} isAlone />
            <Card title="Its models">
              <ul>
                {detail.models.map((model) => (
                  <li key={model}>
                    <a href={linkTo(['engines', 'model', model])}>{model}</a>
                  </li>
                ))}
              </ul>
              {detail.models.length === 0 && <p class="muted">No model is served by it.</p>}
            </Card>
            <Row row={detail.row} />
          </>
        )}
      </Show>
    </>
  );
};

const ModelState = ({ model }: { readonly model: AdminModelDetail }) => (
  <Card title="Now">
    <Problems problems={model.problems} tone={model.health === 'down' ? 'bad' : 'warning'} />
    <div class="row">
      <Badge tone="accent">{model.kind}</Badge>
      <HealthBadge health={model.health} />
      <Badge tone={model.in_service ? 'good' : 'warning'}>
        {model.in_service ? 'in service' : 'not in service'}
      </Badge>
      {model.private && <Badge>private</Badge>}
      <span>
        served by <a href={linkTo(['engines', 'engine', model.engine])}>{model.engine}</a>
      </span>
    </div>
    {model.problems.length === 0 && <p class="muted">Nothing is known to be wrong with it.</p>}
  </Card>
);

export const ModelDetails = ({
  id,
  changed,
}: {
  readonly id: string;
  /** Health of the engines: when it changes, problems of models do. */
  readonly changed: string;
}) => {
  const model = useLoad((signal) => loadModel(id, signal), [id, changed]);
  return (
    <>
      <Head title={id} intro="A model" />
      <Show of={model}>
        {(detail) => (
          <>
            <ModelState model={detail} />
            <Row row={detail.row} />
          </>
        )}
      </Show>
    </>
  );
};
