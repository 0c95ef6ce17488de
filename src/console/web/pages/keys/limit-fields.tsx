/** The numbers of limits, one field each. */
import { TextField } from '../../ui/field.tsx';
import type { LimitDraft } from './key-draft.ts';
import { limitKinds, limitNames } from './records.ts';

export const LimitFields = ({
  draft,
  onChange,
  problem,
}: {
  readonly draft: LimitDraft;
  readonly onChange: (draft: LimitDraft) => void;
  readonly problem: (kind: string) => string | undefined;
}) => (
  <div class="grid">
    {limitKinds.map((kind) => (
      <TextField
        key={kind}
        label={limitNames[kind]}
        type="number"
        min={1}
        step={1}
        value={draft[kind]}
        onChange={(value) => onChange({ ...draft, [kind]: value })}
        problem={problem(kind)}
      />
    ))}
  </div>
);
