/** Shows the OpenAPI document of this gateway in Scalar's viewer, which is served with it. */
// Its package exports only modules; this is its own build in one file.
import viewer from '../../../node_modules/@scalar/api-reference/dist/browser/standalone.js?url';
import { theme } from './theme.ts';
import './ui/tokens.css';
import './reference.css';

interface Scalar {
  createApiReference(element: HTMLElement, configuration: Readonly<Record<string, unknown>>): void;
}

const configuration = (): Readonly<Record<string, unknown>> => ({
  url: new URL('v1/openapi.json', document.baseURI).href,
  baseServerURL: location.origin,
  forceDarkModeState: theme.value,
  hideDarkModeToggle: true,
  // Nothing but this gateway is called.
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
});

const script = document.createElement('script');
script.src = viewer;
script.addEventListener('load', () => {
  const { Scalar } = globalThis as unknown as { Scalar: Scalar };
  const root = document.getElementById('app');
  if (root === null) return;
  Scalar.createApiReference(root, configuration());
  // The viewer takes the setting only once.
  const taken = theme.value;
  theme.subscribe((name) => {
    if (name !== taken) location.reload();
  });
});
script.addEventListener('error', () => {
  document.body.textContent = 'The viewer of the API reference could not be loaded.';
});
document.head.append(script);
