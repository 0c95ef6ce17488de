/** A dialog with a form: its fields, what failed, and a button that submits it. */
import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { FailureNote } from './failure-note.tsx';
import type { Submission } from './use-submit.ts';

export const FormDialog = ({
  title,
  action,
  submission,
  fields,
  onSubmit,
  onClose,
  onReload = onClose,
  children,
}: {
  readonly title: string;
  /** What the button says. */
  readonly action: string;
  readonly submission: Submission;
  /** Names of the fields inside, in the API: they show their own problems. */
  readonly fields: readonly string[];
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly onReload?: () => void;
  readonly children: ComponentChildren;
}) => (
  <Dialog title={title} onClose={onClose}>
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <FailureNote of={submission} fields={fields} onReload={onReload} />
      <div class="row">
        <Button kind="primary" submit disabled={submission.busy}>
          {submission.busy ? 'Sending …' : action}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  </Dialog>
);
