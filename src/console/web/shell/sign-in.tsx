/** Asks for the admin token and checks it before the console opens. */
import { useState } from 'preact/hooks';
import { adminApi, tokenRefused } from '../api/admin.ts';
import { ApiError, request } from '../api/http.ts';
import { adminToken } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { TextField } from '../ui/field.tsx';

export const SignIn = () => {
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const signIn = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    tokenRefused.value = false;
    try {
      await request({ base: adminApi.base, token: () => token.trim() }, '/status');
      adminToken.value = token.trim();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) tokenRefused.value = true;
      else setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="card sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn();
      }}
    >
      <h1>Sign in</h1>
      <TextField
        label="Admin token"
        type="password"
        value={token}
        onChange={setToken}
        required
        hint="Printed at the first start; another: npx sluice tokens create. It stays in this tab."
        problem={tokenRefused.value ? 'The gateway does not accept this token.' : undefined}
      />
      {failure !== undefined && <ErrorNote error={failure} />}
      <div>
        <Button kind="primary" submit disabled={busy || token.trim() === ''}>
          {busy ? 'Checking …' : 'Open the console'}
        </Button>
      </div>
    </form>
  );
};
