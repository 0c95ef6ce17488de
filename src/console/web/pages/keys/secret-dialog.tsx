/** Shows the secret of a key, this once. */
import { apiKey } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Note } from '../../ui/note.tsx';
import { toast } from '../../ui/toast.tsx';

export const SecretDialog = ({
  name,
  secret,
  onClose,
}: {
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
}) => (
  <Dialog title={`Secret of ${name}`} onClose={onClose}>
    <Note tone="warning">
      Copy it now: it is shown only this once. The gateway keeps its hash, and nobody can read it again.
    </Note>
    <Code text={secret} name="the secret" />
    <div class="row">
      <Button kind="primary" onClick={onClose}>
        I have copied it
      </Button>
      <Button
        onClick={() => {
          apiKey.value = secret;
          toast('The playground of this tab uses this key.');
        }}
      >
        Use it in the playground
      </Button>
    </div>
  </Dialog>
);
