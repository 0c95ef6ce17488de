/** Subscriptions by their names: the list of them, a filter and a link. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { goTo, here } from '../../router.ts';
import { SelectField } from '../../ui/field.tsx';
import { type LoadedEntries, useEntries } from '../../ui/use-entries.ts';
import { linkToSubscription } from './links.ts';
import { mostRecords, nameOf, type Subscription } from './records.ts';

/** By id, as they were loaded last. */
const names = signal<ReadonlyMap<string, string>>(new Map());

export const nameOfSubscription = (id: string): string => names.value.get(id) ?? id;

export const useSubscriptions = (): LoadedEntries<Subscription> => {
  const loaded = useEntries<Subscription>('/subscriptions', {}, mostRecords);
  useEffect(() => {
    if (loaded.value !== undefined)
      names.value = new Map(loaded.value.entries.map((each) => [each.id, nameOf(each)]));
  }, [loaded.value]);
  return loaded;
};

/** By its name, where that is known. */
export const SubscriptionLink = ({ id }: { readonly id: string }) => (
  <a href={linkToSubscription(id)} title={id}>
    {nameOfSubscription(id)}
  </a>
);

/** Shows a list of one subscription only, or of all; kept in the address, beside what else is there. */
export const SubscriptionFilter = () => {
  const { page, query } = here.value;
  const subscriptions = useSubscriptions();
  return (
    <SelectField
      label="Subscription"
      value={query.get('subscription') ?? ''}
      onChange={(subscription) => goTo([page], { ...Object.fromEntries(query), subscription })}
      options={[
        { value: '', label: 'all subscriptions' },
        ...(subscriptions.value?.entries ?? []).map((each) => ({ value: each.id, label: nameOf(each) })),
      ]}
    />
  );
};
