/** Searches a store. */
import { useState } from 'preact/hooks';
import { Empty } from '../../ui/empty.tsx';
import { TextField } from '../../ui/field.tsx';
import type { Call } from '../call.ts';
import type { Passage } from '../chat/answer.ts';
import { RunForm } from '../parts.tsx';
import { sendJson } from '../send.ts';
import { useRun } from '../use-run.ts';
import { Passages } from './passages.tsx';
import type { Page } from './shapes.ts';

export const Search = ({
  store,
  onCall,
}: {
  readonly store: string;
  readonly onCall: (call: Call) => void;
}) => {
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<readonly Passage[]>();
  const run = useRun();
  const search = (): void => {
    const call: Call = {
      path: `/vector_store/${encodeURIComponent(store)}/search`,
      json: { input: query },
      result: { kind: 'json' },
    };
    onCall(call);
    run.start(async (signal) => setFound((await sendJson<Page<Passage>>(call, signal)).data));
  };
  return (
    <>
      <RunForm run={run} action="Search" onSend={search} ready={query.trim() !== ''}>
        <TextField label="Search for" value={query} onChange={setQuery} />
      </RunForm>
      {found?.length === 0 && <Empty>Nothing was found.</Empty>}
      {found !== undefined && found.length > 0 && <Passages label="Passages found" passages={found} />}
    </>
  );
};
