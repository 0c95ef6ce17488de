/** Runs each command of the API guide and compares status and keys with the shown response. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { patiently } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';

const guide = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
const example = /^```sh\n([\s\S]*?)^```\n```(json|http|text)\n([\s\S]*?)\n```$/gm;
const examples = [...guide.matchAll(example)].map(([, command = '', kind = '', shown = '']) => ({
  command,
  kind,
  shown,
}));
const shorthands = /^```sh\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? '';

/** Where the guide left something out. */
const cut = '…';

/** What the guide shows as JSON; a `…` outside of texts stays as a member or an item of that name. */
const readShown = (text: string): unknown => {
  const containers: string[] = [];
  const json = text.replace(/"(?:[^"\\]|\\.)*"|[[\]{}…]/g, (token) => {
    if (token === '{' || token === '[') containers.push(token);
    if (token === '}' || token === ']') containers.pop();
    if (token !== cut) return token;
    return containers.at(-1) === '{' ? `"${cut}":0` : `"${cut}"`;
  });
  return JSON.parse(json);
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

const id = /\b(?:(?:video|music|vs|item)_|file-)[0-9a-f]{24}\b|[^/]+\?expires=.*/g;

t.test('the API guide', { skip: process.platform === 'win32' ? 'needs bash' : onlyLong }, async (t) => {
  const gateway = await startGateway();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-guide-'));
  t.teardown(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  /** Ids that the guide shows → those of this run. */
  const ids = new Map<string, string>();
  const ours = (text: string): string =>
    [...ids].reduce((all, [shown, real]) => all.replaceAll(shown, real), text);

  const differences = (shown: unknown, real: unknown, path: string): string[] => {
    if (isObject(shown) && isObject(real)) {
      const missing = Object.keys(shown).filter((key) => key !== cut && !(key in real));
      const untold = cut in shown ? [] : Object.keys(real).filter((key) => !(key in shown));
      return [
        ...missing.map((key) => `${path}.${key} is shown but not there`),
        ...untold.map((key) => `${path}.${key} is there but not shown`),
        ...Object.keys(shown).flatMap((key) =>
          key in real ? differences(shown[key], real[key], `${path}.${key}`) : [],
        ),
      ];
    }
    if (Array.isArray(shown) && Array.isArray(real)) {
      const items = shown.filter((item) => item !== cut);
      const fits = items.length < shown.length ? items.length < real.length : items.length === real.length;
      return [
        ...(fits ? [] : [`${path} shows ${shown.length} items of ${real.length}`]),
        ...items.flatMap((item, index) => differences(item, real[index], `${path}[${index}]`)),
      ];
    }
    if (typeof shown === 'string' && typeof real === 'string') {
      const found = real.match(id) ?? [];
      for (const [index, name] of (shown.match(id) ?? []).entries()) ids.set(name, found[index] ?? name);
      return [];
    }
    return kindOf(shown) === kindOf(real) ? [] : [`${path} is ${kindOf(real)}, shown as ${kindOf(shown)}`];
  };

  /** Lines in their order: events by name, data by shape; a line `…` stands for any number of others. */
  const lineDifferences = (shown: string, real: string): string[] => {
    const lines = real.split('\n').filter((line) => line !== '');
    const said = shown.split('\n').filter((line) => line !== '');
    let at = 0;
    for (const [index, line] of said.entries()) {
      if (line === cut) {
        const next = said[index + 1] ?? '';
        while (at < lines.length && differ(next, lines[at] ?? '').length > 0) at++;
        continue;
      }
      const found = differ(line, lines[at++] ?? '');
      if (found.length > 0) return found;
    }
    return at === lines.length ? [] : [`not shown: ${lines[at]}`];
  };
  const differ = (shown: string, real: string): string[] => {
    const data = 'data: {';
    if (shown.startsWith(data) && real.startsWith(data))
      return differences(readShown(shown.slice(6)), JSON.parse(real.slice(6)), 'data');
    return shown === real ? [] : [`"${real.slice(0, 200)}" where "${shown.slice(0, 200)}" is shown`];
  };

  /** Standard output, and the status of the last curl unless it prints it by itself. */
  const run = async (command: string): Promise<{ said: string; status: number }> => {
    const own = shorthands.replaceAll('http://127.0.0.1:8787/v1', gateway.url);
    const child = spawn(
      'bash',
      ['-c', `curl() { command curl -w '%{stderr} %{http_code}' "$@"; }\n${own}\n${command}`],
      {
        cwd: folder,
        env: { ...process.env, SLUICE_KEY: gateway.key },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: patiently(60_000),
      },
    );
    let said = '';
    let told = '';
    child.stdout.setEncoding('utf8').on('data', (piece) => {
      said += piece;
    });
    child.stderr.setEncoding('utf8').on('data', (piece) => {
      told += piece;
    });
    await new Promise((resolve) => child.once('close', resolve));
    return { said: said.replaceAll('\r', ''), status: Number(/(\d{3})$/.exec(told)?.[1] ?? 0) };
  };

  const shape = (shown: string, real: string): string[] =>
    differences(readShown(shown), JSON.parse(real), '');

  /** Head lines by name, then the body. */
  const httpDifferences = (shown: string, real: string): string[] => {
    const [shownHead = '', shownBody] = shown.split('\n\n', 2);
    const [head = '', body = ''] = real.split('\n\n', 2);
    const names = new Set(head.split('\n').map((line) => line.split(':', 1)[0]));
    const missing = shownHead
      .split('\n')
      .map((line) => line.split(':', 1)[0] ?? '')
      .filter((name) => !names.has(name));
    return [
      ...missing.map((name) => `no "${name}" in the head`),
      ...(shownBody === undefined ? [] : shape(shownBody, body)),
    ];
  };

  const shownStatus = (kind: string, shown: string): RegExp => {
    const code = (kind === 'http' ? /^HTTP\/1\.1 (\d{3})/ : /^\{\s*"error": \{\s*"code": (\d{3})/).exec(
      shown,
    )?.[1];
    if (code !== undefined) return new RegExp(code);
    return /^\{\s*"type": "error"/.test(shown) ? /^4/ : /^2/;
  };

  const compare: Readonly<Record<string, (shown: string, real: string) => string[]>> = {
    json: shape,
    http: httpDifferences,
    text: lineDifferences,
  };
  for (const { command, kind, shown } of examples) {
    const { said, status } = await run(ours(command.replaceAll('http://127.0.0.1:8787/v1', gateway.url)));
    const told = command.includes('-w ') ? said.trim().split(' ')[0] : String(status);
    t.match(told, shownStatus(kind, shown), command);
    t.same(compare[kind]?.(shown, said.trim()), [], command);
  }

  await t.test('has every route', async (t) => {
    const { paths } = JSON.parse((await run('curl -s $SLUICE_URL/openapi.json')).said) as {
      paths: Record<string, Record<string, unknown>>;
    };
    /** The most literal of those that fit comes first. */
    const routes = Object.keys(paths)
      .map((path) => ({ path, fits: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^?]+')}$`) }))
      .sort((a, b) => literal(b.path) - literal(a.path));
    const shown = examples.flatMap(({ command }) =>
      [...command.matchAll(/^.*\bcurl\b.*?(?:\$SLUICE_URL|127\.0\.0\.1:8787\/v1)([^\s"?]+).*$/gm)].map(
        ([line, path = '']) => `${methodOf(line)} ${routes.find(({ fits }) => fits.test(path))?.path}`,
      ),
    );
    const all = Object.entries(paths)
      .filter(([path]) => !path.startsWith('/vector_stores'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    t.same(
      all.filter((route) => !shown.includes(route)),
      [],
    );
  });
});

const literal = (path: string): number => path.replace(/\{[^}]+\}/g, '').length;
const methodOf = (line: string): string =>
  / -X (\w+)/.exec(line)?.[1] ?? (/ (?:--json|-F) /.test(line) ? 'POST' : 'GET');
