/** The files of a store, and uploads. */
import { useEffect, useState } from 'preact/hooks';
import { publicJson } from '../../api/public.ts';
import { Badge } from '../../ui/badge.tsx';
import { FileField } from '../../ui/field.tsx';
import { bytes } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useLoad } from '../../ui/use-load.ts';
import type { Call } from '../call.ts';
import { RunForm } from '../parts.tsx';
import { send } from '../send.ts';
import { useRun } from '../use-run.ts';
import type { Page, StoredFile } from './shapes.ts';

const pollMs = 1_000;

const tones = { in_progress: 'accent', completed: 'good', failed: 'bad', cancelled: 'warning' } as const;

const reasonOf = ({ last_error: error }: StoredFile): string | undefined =>
  typeof error === 'string' ? error : error?.message;

const columns: readonly Column<StoredFile>[] = [
  { title: 'File', cell: ({ filename }) => filename },
  { title: 'Size', number: true, cell: (file) => bytes(file.bytes) },
  { title: 'Passages', number: true, cell: ({ item_count }) => item_count },
  {
    title: 'State',
    cell: (file) => (
      <Badge tone={tones[file.status]} title={reasonOf(file)}>
        {file.status.replace('_', ' ')}
      </Badge>
    ),
  },
];

export const Files = ({
  store,
  onCall,
  onChange,
}: {
  readonly store: string;
  readonly onCall: (call: Call) => void;
  readonly onChange: () => void;
}) => {
  const path = `/vector_store/${encodeURIComponent(store)}/files`;
  const [picked, setPicked] = useState<readonly File[]>([]);
  const [round, setRound] = useState(0);
  const run = useRun();
  const files = useLoad(
    async (signal) => (await publicJson<Page<StoredFile>>(path, { query: { limit: 100 }, signal })).data,
    [path],
  );
  const pending = files.value?.some(({ status }) => status === 'in_progress') ?? false;
  useEffect(() => {
    if (!pending) return;
    const timer = setInterval(files.reload, pollMs);
    return () => clearInterval(timer);
  }, [pending, files.reload]);
  const callOf = (file: File): Call => ({ path, form: [['file', file]], result: { kind: 'json' } });
  const upload = (): void => {
    const [first] = picked;
    if (first !== undefined) onCall(callOf(first));
    run.start(async (signal) => {
      try {
        for (const file of picked) await send(callOf(file), signal);
        setPicked([]);
        setRound((before) => before + 1);
      } finally {
        files.reload();
        onChange();
      }
    });
  };
  return (
    <>
      <Show of={files}>
        {(list) => (
          <Table
            caption="Files of the store"
            columns={columns}
            rows={list}
            rowKey={({ id }) => id}
            empty="It has no files yet."
          />
        )}
      </Show>
      <RunForm run={run} action="Upload" onSend={upload} ready={picked.length > 0}>
        <FileField
          key={round}
          label="Files to upload"
          hint="Text, Markdown, CSV, JSON, HTML, PDF or DOCX."
          multiple
          onChange={setPicked}
        />
      </RunForm>
    </>
  );
};
