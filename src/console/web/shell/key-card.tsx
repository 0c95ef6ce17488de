/** Asks for the visitor's API key, checks it, and keeps it in the tab. */
import { useState } from 'preact/hooks';
import type { Health } from '../../../../schemas/health.ts';
import { requestJson } from '../api/http.ts';
import { publicApi } from '../api/public.ts';
import { apiKey } from '../api/session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { TextField } from '../ui/field.tsx';

export const KeyCard = () => {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const use = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await requestJson<Health>({ base: publicApi.base, token: () => key.trim() }, '/health');
      apiKey.value = key.trim();
      setKey('');
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title="Your key">
      {apiKey.value === undefined ? (
        <form
          class="stack tight"
          onSubmit={(event) => {
            event.preventDefault();
            void use();
          }}
        >
          <TextField
            label="API key"
            type="password"
            value={key}
            onChange={setKey}
            hint="Needed for the playground. It stays in this tab and is sent to this gateway only."
          />
          {failure !== undefined && <ErrorNote error={failure} />}
          <div>
            <Button kind="primary" submit disabled={busy || key.trim() === ''}>
              {busy ? 'Checking …' : 'Use this key'}
            </Button>
          </div>
        </form>
      ) : (
        <div class="row spread">
          <span class="row">
            <Badge tone="good">in use</Badge>
            <code>{masked(apiKey.value)}</code>
          </span>
          <Button
            onClick={() => {
              apiKey.value = undefined;
            }}
          >
            Forget it
          </Button>
        </div>
      )}
    </Card>
  );
};

const masked = (key: string): string => `${key.slice(0, 6)}…${key.slice(-4)}`;
