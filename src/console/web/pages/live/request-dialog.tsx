/** One request: its timeline, what is known of it, and a button that cancels it. */
import { useState } from 'preact/hooks';
import { adminJson } from '../../api/admin.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { messageOf } from '../../ui/error-note.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { bytes, count, dateTime, duration, money } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import { toast } from '../../ui/toast.tsx';
import { Signs, StateBadge } from './request-badges.tsx';
import { isRunning, type Shown, segmentsOf, totalOf } from './timeline.ts';

const colours = 6;

const TimelineView = ({ request }: { readonly request: Shown }) => {
  const segments = segmentsOf(request);
  const total = Math.max(1, ...segments.map(({ to }) => to));
  return (
    <>
      <div class="segments" aria-hidden="true">
        {segments.map(({ name, from, to }, index) => (
          <span
            key={name}
            class={`segment-${(index % colours) + 1}`}
            title={`${name}: ${duration(to - from)}`}
            style={{ width: `${((to - from) / total) * 100}%` }}
          />
        ))}
      </div>
      <table class="table">
        <caption class="visually-hidden">Timeline</caption>
        <thead>
          <tr>
            <th scope="col">Until</th>
            <th scope="col" class="number">
              After
            </th>
            <th scope="col" class="number">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>
              <span class="swatch" /> Received
            </td>
            <td class="number">0 ms</td>
            <td class="number">–</td>
          </tr>
          {segments.map(({ name, from, to }, index) => (
            <tr key={name}>
              <td>
                <span class={`swatch segment-${(index % colours) + 1}`} /> {name}
              </td>
              <td class="number">{duration(to)}</td>
              <td class="number">{duration(to - from)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
};

const factsOf = (request: Shown): readonly (readonly [string, string | null])[] => [
  ['Route', `${request.method} ${request.route ?? '–'}`],
  ['Model', request.model],
  ['Subscription', request.subscription],
  ['Key', request.key],
  ['Replica', request.replica],
  ['Process', String(request.process)],
  [
    'Tokens',
    `${count(request.prompt_tokens)} of the prompt, ${count(request.completion_tokens)} of the response`,
  ],
  ['Time', duration(totalOf(request))],
  ...(isRunning(request)
    ? [['Waits for the client', bytes(request.unread_bytes)] as const]
    : [
        ['Ended', dateTime(request.time)] as const,
        ['Cut off', request.cut] as const,
        ['Cost', request.cost === null ? null : money(request.cost)] as const,
      ]),
];

const cancel = async (id: string): Promise<void> => {
  try {
    await adminJson(`/requests/${encodeURIComponent(id)}/cancel`, { method: 'POST' });
    toast(`Request ${id} was cancelled.`);
  } catch (error) {
    toast(messageOf(error), 'bad');
  }
};

export const RequestDialog = ({
  request,
  isKnown,
  onClose,
}: {
  readonly request: Shown;
  /** False: neither running nor among those that ended last. */
  readonly isKnown: boolean;
  readonly onClose: () => void;
}) => {
  const [confirming, setConfirming] = useState(false);
  const { id } = request;
  return (
    <>
      <Dialog title="Request" onClose={onClose}>
        <div class="row">
          <code>{id}</code>
          <CopyButton text={id} name="the request id" />
          <StateBadge request={request} />
          <Signs request={request} />
        </div>
        {!isKnown && <Note>It is no longer shown by the gateway. This is what was known last.</Note>}
        <TimelineView request={request} />
        <Facts>
          {factsOf(request).map(
            ([name, value]) =>
              value !== null && (
                <Fact key={name} name={name}>
                  {value}
                </Fact>
              ),
          )}
        </Facts>
        {isRunning(request) && isKnown && (
          <div>
            <Button kind="danger" onClick={() => setConfirming(true)}>
              Cancel the request
            </Button>
          </div>
        )}
      </Dialog>
      {confirming && (
        <ConfirmDialog
          title="Cancel this request?"
          action="Cancel it"
          onConfirm={() => void cancel(id)}
          onClose={() => setConfirming(false)}
        >
          <p>
            Its client gets a 503, or the error event of its format if it streams. It costs nothing and cannot
            be taken back.
          </p>
          <p class="mono">{id}</p>
        </ConfirmDialog>
      )}
    </>
  );
};
