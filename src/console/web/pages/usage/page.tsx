/** Usage and cost over time, by model, key, route or subscription, down to single events. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { downloadCsv, saveJson } from '../../api/download.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { messageOf } from '../../ui/error-note.tsx';
import { count } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { Note } from '../../ui/note.tsx';
import { toast } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { Budgets } from './budgets.tsx';
import { Events } from './events.tsx';
import { FilterBar, firstView, refreshed, type View } from './filter-bar.tsx';
import { type All, groupBy, loadAllEvents, loadNames, loadUsage, mostJsonEvents } from './load.ts';
import { dateText } from './period.ts';
import { groupsOf, sumOf, type UsageRow } from './totals.ts';
import { PartsTable, Totals, UsageChart } from './usage-chart.tsx';
import './usage.css';

/** Typing in a filter asks once, not for each letter. */
const settleMs = 300;

const useSettled = <T,>(value: T): T => {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), settleMs);
    return () => clearTimeout(timer);
  }, [JSON.stringify(value)]);
  return settled;
};

const fileName = (what: string, { period }: View, extension: string): string =>
  `sluice-${what}-${dateText(period.from)}-to-${dateText(period.to - 1)}.${extension}`;

/** Says why it failed. */
const exported = async (run: () => Promise<void>): Promise<void> => {
  try {
    await run();
  } catch (error) {
    toast(`The export failed. ${messageOf(error)}`, 'bad');
  }
};

const exportEvents = async (view: View): Promise<void> => {
  const { rows, isComplete } = await loadAllEvents({ ...view.period, ...view.filters });
  if (!isComplete)
    throw new Error(`There are more than ${count(mostJsonEvents)} events: choose a shorter period, or CSV.`);
  saveJson(rows, fileName('events', view, 'json'));
};

const Exports = ({ view, rows }: { readonly view: View; readonly rows: readonly UsageRow[] | undefined }) => {
  const query = { ...view.period, ...view.filters };
  return (
    <div class="row">
      <Button
        onClick={() =>
          exported(() =>
            downloadCsv(
              '/usage',
              { ...query, group_by: groupBy(view.unit, view.stack) },
              fileName('usage', view, 'csv'),
            ),
          )
        }
      >
        Totals as CSV
      </Button>
      <Button disabled={rows === undefined} onClick={() => saveJson(rows, fileName('usage', view, 'json'))}>
        Totals as JSON
      </Button>
      <Button
        onClick={() => exported(() => downloadCsv('/usage/events', query, fileName('events', view, 'csv')))}
      >
        Events as CSV
      </Button>
      <Button onClick={() => exported(() => exportEvents(view))}>Events as JSON</Button>
    </div>
  );
};

const Usage = ({
  usage: { rows, isComplete },
  view,
  nameOf,
  onChoose,
}: {
  readonly usage: All<UsageRow>;
  readonly view: View;
  readonly nameOf: (id: string) => string;
  readonly onChoose: (id: string) => void;
}) => {
  const { period, unit, stack, measure } = view;
  const groups = useMemo(
    () => (stack === 'none' ? [] : groupsOf(rows, stack, measure)),
    [rows, stack, measure],
  );
  const sums = useMemo(() => sumOf(rows), [rows]);
  if (rows.length === 0) return <Empty>Nothing was used in this period.</Empty>;
  const parts =
    stack === 'none' ? [{ name: 'all', rows }] : groups.map(({ id, rows }) => ({ name: nameOf(id), rows }));
  return (
    <>
      {!isComplete && (
        <Note tone="warning">
          Only the first {count(rows.length)} rows are shown: choose a shorter period or larger steps.
        </Note>
      )}
      <Totals sums={sums} />
      <UsageChart period={period} unit={unit} measure={measure} parts={parts} />
      {stack !== 'none' && (
        <PartsTable
          groups={groups}
          total={sums[measure]}
          measure={measure}
          nameOf={nameOf}
          onChoose={onChoose}
        />
      )}
    </>
  );
};

const UsagePage = () => {
  const [view, setView] = useState<View>(firstView);
  const [round, setRound] = useState(0);
  const { period, unit, stack, filters } = useSettled(view);
  const usage = useLoad(
    async (signal) => ({
      ...(await loadUsage(period, { unit, stack, filters }, signal)),
      unit,
      stack,
      period,
    }),
    [period.from, period.to, unit, stack, JSON.stringify(filters), round],
  );
  const names = useLoad(loadNames, [round]);
  const refresh = (): void => {
    setView(refreshed(view));
    setRound(round + 1);
  };
  const nameOf = (id: string): string => names.value?.get(id) ?? id;
  const seen = (field: 'model' | 'route'): readonly string[] =>
    [...new Set(usage.value?.rows.flatMap((row) => row[field] ?? []))].slice(0, 100);
  const ids = (prefix: string): readonly string[] =>
    [...(names.value?.keys() ?? [])].filter((id) => id.startsWith(prefix)).slice(0, 100);
  return (
    <div class="stack">
      <PageHead
        title="Usage"
        intro="Hours, days and months are those of universal time."
        actions={<Exports view={view} rows={usage.value?.rows} />}
      />
      <Card title="Usage and cost" actions={<Button onClick={refresh}>Refresh</Button>}>
        <FilterBar
          view={view}
          onChange={setView}
          suggestions={{
            ...{ model: seen('model'), route: seen('route') },
            ...{ subscription: ids('sub_'), key: ids('key_') },
          }}
        />
        <Show of={usage}>
          {(loaded) => (
            <Usage
              usage={loaded}
              // As it was loaded: a chart by the hour needs rows by the hour.
              view={{ ...view, unit: loaded.unit, stack: loaded.stack, period: loaded.period }}
              nameOf={nameOf}
              onChoose={(id) =>
                loaded.stack !== 'none' &&
                setView({ ...view, filters: { ...view.filters, [loaded.stack]: id } })
              }
            />
          )}
        </Show>
      </Card>
      <Budgets key={round} nameOf={nameOf} />
      <Card title="Events">
        <Events
          key={`${period.from} ${period.to} ${JSON.stringify(filters)} ${round}`}
          period={period}
          filters={filters}
          nameOf={nameOf}
        />
      </Card>
    </div>
  );
};

export default UsagePage;
