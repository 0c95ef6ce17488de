/** The console of the operator's port, behind the admin token. */
import { render } from 'preact';
import { adminToken } from './api/session.ts';
import type { Page } from './shell/pages.tsx';
import { followPublicAddress } from './shell/public-address.ts';
import { Frame, Header, Links, Main } from './shell/shell.tsx';
import { SignIn } from './shell/sign-in.tsx';
import { Button } from './ui/button.tsx';

const pages: readonly Page[] = [
  { name: 'live', title: 'Live', load: () => import('./pages/live/page.tsx') },
  { name: 'usage', title: 'Usage', load: () => import('./pages/usage/page.tsx') },
  { name: 'keys', title: 'Keys & limits', load: () => import('./pages/keys/page.tsx') },
  { name: 'engines', title: 'Models & engines', load: () => import('./pages/engines/page.tsx') },
  { name: 'jobs', title: 'Jobs & webhooks', load: () => import('./pages/jobs/page.tsx') },
  { name: 'audit', title: 'Audit', load: () => import('./pages/audit/page.tsx') },
  { name: 'playground', title: 'Playground', load: () => import('./playground/page.tsx') },
];

const signOut = (
  <Button
    kind="quiet"
    small
    onClick={() => {
      adminToken.value = undefined;
    }}
  >
    Sign out
  </Button>
);

const App = () =>
  adminToken.value === undefined ? (
    <Frame>
      <Header name="Sluice console" />
      <main class="main" id="main" tabIndex={-1}>
        <SignIn />
      </main>
    </Frame>
  ) : (
    <Frame>
      <Header name="Sluice console" end={signOut} />
      <div class="with-side">
        <nav aria-label="Pages">
          <Links pages={pages} />
        </nav>
        <Main pages={pages} site="Sluice console" />
      </div>
    </Frame>
  );

followPublicAddress();

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
