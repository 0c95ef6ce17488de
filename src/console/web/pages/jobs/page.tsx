/** Jobs and webhook deliveries. */
import { goTo, here } from '../../router.ts';
import { PageHead } from '../../ui/card.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useMainFocus } from '../../ui/use-main-focus.ts';
import { DeliveryDetails } from './delivery-details.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { JobDetails } from './job-details.tsx';
import { JobList } from './job-list.tsx';

const tabs = [
  { id: 'video', title: 'Videos' },
  { id: 'music', title: 'Music' },
  { id: 'deliveries', title: 'Webhook deliveries' },
] as const;

/** `#/jobs/video_…`, `#/jobs/deliveries/video_…-completed`, else tabs: `#/jobs?tab=music`. */
const JobsPage = () => {
  const [first, second] = here.value.rest;
  useMainFocus(here.value.rest.join('/'));
  if (first === 'deliveries' && second !== undefined) return <DeliveryDetails id={second} />;
  if (first !== undefined && first !== '') return <JobDetails id={first} />;
  const wanted = here.value.query.get('tab');
  const selected = tabs.find(({ id }) => id === wanted)?.id ?? 'video';
  return (
    <div class="stack">
      <PageHead title="Jobs &amp; webhooks" intro="Refreshed every few seconds while this page is shown." />
      <Tabs
        label="Jobs and deliveries"
        tabs={tabs}
        selected={selected}
        onSelect={(tab) => goTo(['jobs'], { tab: tab === 'video' ? undefined : tab })}
      >
        {selected === 'deliveries' ? <DeliveryList /> : <JobList key={selected} type={selected} />}
      </Tabs>
    </div>
  );
};

export default JobsPage;
