/** What this gateway is, where its API is, and how to send a first request. */
import { useState } from 'preact/hooks';
import { listModels, publicBase } from '../../api/public.ts';
import { apiKey } from '../../api/session.ts';
import { linkTo } from '../../router.ts';
import { KeyCard } from '../../shell/key-card.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Show } from '../../ui/loading.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { kindOf } from '../models/describe.ts';
import { firstRequests } from './first-request.ts';

const FirstRequest = ({ model }: { readonly model: string }) => {
  const examples = firstRequests(publicBase.value, model);
  const [selected, select] = useState(examples[0]?.id ?? '');
  const shown = examples.find(({ id }) => id === selected);
  return (
    <Tabs label="Language" tabs={examples} selected={selected} onSelect={select}>
      {shown !== undefined && <Code text={shown.text} name={`the request in ${shown.title}`} />}
    </Tabs>
  );
};

const OverviewPage = () => {
  const models = useLoad((signal) => listModels(signal), [apiKey.value]);
  return (
    <div class="stack">
      <PageHead
        title="Sluice"
        intro="One HTTP API in front of hosted models. The OpenAI, OpenRouter and Anthropic SDKs work with it: change the base URL and the key."
        actions={
          <>
            <LinkButton href="reference">API reference</LinkButton>
            <LinkButton kind="primary" href={linkTo(['playground'])}>
              Open the playground
            </LinkButton>
          </>
        }
      />
      <div class="grid">
        <Card title="Base URL">
          <Code text={publicBase.value} name="the base URL" />
          <p class="muted">
            <a href="v1/openapi.json">OpenAPI document</a>
          </p>
        </Card>
        <KeyCard />
        <Card title="Models">
          <Show of={models}>
            {(list) => (
              <ul>
                {[...new Set(list.map(kindOf))].map((kind) => (
                  <li key={kind}>
                    {kind}: {list.filter((model) => kindOf(model) === kind).length}
                  </li>
                ))}
              </ul>
            )}
          </Show>
          <p>
            <a href={linkTo(['models'])}>What each can do and costs</a>
          </p>
        </Card>
      </div>
      <Card title="A first request">
        <Show of={models}>
          {(list) => {
            const chat = list.find((model) => kindOf(model) === 'chat');
            return chat === undefined ? (
              <Empty>There is no chat model.</Empty>
            ) : (
              <FirstRequest model={chat.id} />
            );
          }}
        </Show>
      </Card>
    </div>
  );
};

export default OverviewPage;
