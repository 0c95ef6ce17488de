/** Which period, how it is divided, and what is left out. */
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { type Filters, noFilters } from './load.ts';
import {
  customPeriod,
  dateText,
  type Period,
  periodOf,
  type Range,
  ranges,
  type Unit,
  unitsOf,
  usualUnit,
} from './period.ts';
import type { Measure, Stack } from './totals.ts';
import { measures } from './usage-chart.tsx';

export interface View {
  readonly range: Range;
  /** Dates of a range that is chosen freely. */
  readonly first: string;
  readonly last: string;
  readonly period: Period;
  readonly unit: Unit;
  readonly stack: Stack;
  readonly measure: Measure;
  readonly filters: Filters;
}

export const firstView = (): View => {
  const period = periodOf('30d', new Date());
  return {
    ...{ range: '30d', period, unit: 'day', stack: 'model', measure: 'cost', filters: noFilters },
    ...{ first: dateText(period.from), last: dateText(period.to - 1) },
  };
};

const inPeriod = (view: View, period: Period): View => ({ ...view, period, unit: usualUnit(period) });

/** A period up to now goes on. */
export const refreshed = (view: View): View =>
  view.range === 'custom' ? view : { ...view, period: periodOf(view.range, new Date()) };

const withRange = (view: View, range: Range): View => {
  if (range === 'custom') return { ...view, range };
  const period = periodOf(range, new Date());
  return {
    ...inPeriod({ ...view, range }, period),
    ...{ first: dateText(period.from), last: dateText(period.to - 1) },
  };
};

const withDates = (view: View, dates: Partial<Pick<View, 'first' | 'last'>>): View => {
  const next = { ...view, ...dates };
  const period = customPeriod(next.first, next.last);
  return period === undefined ? next : inPeriod(next, period);
};

const filterNames = ['subscription', 'key', 'model', 'route'] as const;

export const FilterBar = ({
  view,
  onChange,
  suggestions,
}: {
  readonly view: View;
  readonly onChange: (view: View) => void;
  readonly suggestions: Readonly<Partial<Record<keyof Filters, readonly string[]>>>;
}) => {
  const isFiltered = filterNames.some((name) => view.filters[name] !== '');
  const isRange = customPeriod(view.first, view.last) !== undefined;
  return (
    <>
      <div class="filters">
        <SelectField
          label="Period"
          value={view.range}
          onChange={(range) => onChange(withRange(view, range as Range))}
          options={ranges}
        />
        {view.range === 'custom' && (
          <>
            <TextField
              label="From"
              type="date"
              value={view.first}
              onChange={(first) => onChange(withDates(view, { first }))}
            />
            <TextField
              label="To"
              type="date"
              value={view.last}
              onChange={(last) => onChange(withDates(view, { last }))}
              problem={isRange ? undefined : 'Must not be before the first day.'}
            />
          </>
        )}
        <SelectField
          label="By"
          value={view.unit}
          onChange={(unit) => onChange({ ...view, unit: unit as Unit })}
          options={unitsOf(view.period)}
        />
        <SelectField
          label="Stacked by"
          value={view.stack}
          onChange={(stack) => onChange({ ...view, stack: stack as Stack })}
          options={['model', 'key', 'route', 'subscription', 'none']}
        />
        <SelectField
          label="Measure"
          value={view.measure}
          onChange={(measure) => onChange({ ...view, measure: measure as Measure })}
          options={measures}
        />
      </div>
      <div class="filters">
        {filterNames.map((name) => (
          <TextField
            key={name}
            label={`Only ${name}`}
            value={view.filters[name]}
            onChange={(value) => onChange({ ...view, filters: { ...view.filters, [name]: value } })}
            placeholder="all"
            suggestions={suggestions[name]}
          />
        ))}
        <div class="row end">
          <Button disabled={!isFiltered} onClick={() => onChange({ ...view, filters: noFilters })}>
            Show all
          </Button>
        </div>
      </div>
    </>
  );
};
