/** Subscriptions, keys, limits and budgets. */
import { goTo, here } from '../../router.ts';
import { PageHead } from '../../ui/card.tsx';
import { Show } from '../../ui/loading.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useMainFocus } from '../../ui/use-main-focus.ts';
import { Budgets } from './budgets.tsx';
import { KeyDetails } from './key-details.tsx';
import { KeyList } from './key-list.tsx';
import { SubscriptionDetails } from './subscription-details.tsx';
import { SubscriptionList } from './subscription-list.tsx';
import { useSubscriptions } from './subscriptions.tsx';

const tabs = [
  { id: 'keys', title: 'Keys' },
  { id: 'subscriptions', title: 'Subscriptions and limits' },
  { id: 'budgets', title: 'Budgets' },
];

/** `#/keys/key_…`, `#/keys/subscriptions/sub_…`, else tabs: `#/keys?tab=budgets`. */
const KeysPage = () => {
  const [first, second] = here.value.rest;
  useMainFocus(here.value.rest.join('/'));
  if (first === 'subscriptions' && second !== undefined) return <SubscriptionDetails id={second} />;
  if (first !== undefined && first !== '') return <KeyDetails id={first} />;
  return <Overview />;
};

const Overview = () => {
  const wanted = here.value.query.get('tab') ?? '';
  const selected = tabs.find(({ id }) => id === wanted)?.id ?? 'keys';
  const subscriptions = useSubscriptions();
  return (
    <div class="stack">
      <PageHead
        title="Keys &amp; limits"
        intro="A key belongs to a subscription, which its limits and its usage are counted for. Gateways apply changes within five seconds."
      />
      <Tabs
        label="Records"
        tabs={tabs}
        selected={selected}
        onSelect={(tab) => goTo(['keys'], { tab: tab === 'keys' ? undefined : tab })}
      >
        {selected === 'budgets' ? (
          <Budgets title="Budgets" />
        ) : (
          <Show of={subscriptions}>
            {({ entries }) =>
              selected === 'keys' ? (
                <KeyList subscriptions={entries} />
              ) : (
                <SubscriptionList of={subscriptions} />
              )
            }
          </Show>
        )}
      </Tabs>
    </div>
  );
};

export default KeysPage;
