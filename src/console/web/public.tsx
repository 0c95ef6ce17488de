/** The page of the public port: what this is, its models, its API, a playground. */
import { render } from 'preact';
import type { Page } from './shell/pages.tsx';
import { Frame, Header, Links, Main } from './shell/shell.tsx';

const pages: readonly Page[] = [
  { name: 'overview', title: 'Overview', load: () => import('./pages/overview/page.tsx') },
  { name: 'models', title: 'Models', load: () => import('./pages/models/page.tsx') },
  { name: 'playground', title: 'Playground', load: () => import('./playground/page.tsx') },
];

const App = () => (
  <Frame>
    <Header name="Sluice">
      <nav aria-label="Pages">
        <Links pages={pages}>
          <li>
            <a href="reference">API reference</a>
          </li>
        </Links>
      </nav>
    </Header>
    <Main pages={pages} site="Sluice" />
  </Frame>
);

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
