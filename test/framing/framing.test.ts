/** Sends 297 raw requests, well-formed and malformed, to both edges, and compares the verdicts with other servers'. */
import { delay, map } from 'rxjs';
import t from 'tap';
import type { Pipeline } from '../../src/ports/exchange.ts';
import { open, text } from '../contracts/edge/probe.ts';
import { patiently } from '../eventually.ts';
import { startEdge } from '../http/edge-fixture.ts';
import { servers } from '../http/servers.ts';
import { type Case, type Server, smuggledPath, type Verdict } from './case.ts';
import { chunks } from './chunks.ts';
import { echo } from './echo.ts';
import { heads } from './heads.ts';
import { lengths } from './lengths.ts';
import { nginxAgent, startNginx, startPlainNode, whyNoNginx } from './references.ts';
import { segments } from './segments.ts';
import { judge } from './verdict.ts';

const cases = [...heads, ...lengths, ...chunks, ...segments];

const uwsVersion = Number(process.versions.modules) < 127 ? 'uws 20.41' : 'uws 20.64';
const atOnce = 40;

/** What a case may end in: what the RFC asks for, or what is known instead. */
const allowed = (each: Case, server: Server): readonly Verdict[] => [
  ...(each.rfc === 'either' ? (['accepts', 'refuses'] as const) : [each.rfc]),
  ...(each.known[server] === undefined ? [] : [each.known[server]]),
];

const judgeAll = async (
  port: number,
  patienceOf: (each: Case) => number,
): Promise<ReadonlyMap<string, Verdict>> => {
  const verdicts = new Map<string, Verdict>();
  const left = [...cases];
  const work = async () => {
    for (let each = left.shift(); each !== undefined; each = left.shift())
      verdicts.set(each.name, await judge(port, each, patienceOf(each)));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return verdicts;
};

interface Handled {
  readonly path: string;
  readonly agent: string;
}

const routes = (handled: Handled[]) => {
  const repeat: Pipeline = (exchange) => {
    const { body, method, path, query } = exchange;
    handled.push({ path, agent: exchange.header('user-agent') });
    return body.whole().pipe(map((bytes) => text(echo(method, path, query, bytes.toString('latin1')))));
  };
  const slowly: Pipeline = (exchange, caller) => repeat(exchange, caller).pipe(delay(50));
  return [
    ...(['GET', 'POST'] as const).flatMap((method) =>
      ['/echo', smuggledPath.slice('/v1'.length)].map((path) => open(method, path, repeat, 1_000_000)),
    ),
    open('POST', '/slow', slowly, 1_000_000),
  ];
};

t.test('at least 150 cases, each once', async (t) => {
  t.ok(cases.length >= 150, `${cases.length}`);
  t.equal(new Set(cases.map(({ name }) => name)).size, cases.length);
});

t.test('both edges', async (t) => {
  const plain = await startPlainNode(t);
  const edges: { name: 'uws' | 'node'; server: Server; port: number; handled: Handled[] }[] = [];
  for (const { name, skip } of servers) {
    if (skip !== false) t.comment(`not on ${name}: ${skip}`);
    if (skip !== false) continue;
    const handled: Handled[] = [];
    const { port } = await startEdge(t, name, routes(handled), { lingerMs: 200 });
    edges.push({ name, server: name === 'uws' ? uwsVersion : 'node', port, handled });
  }
  const noNginx = whyNoNginx();
  if (noNginx !== false) t.comment(`not compared with nginx: ${noNginx}`);
  const [nginx, ...fronts] =
    noNginx === false ? await startNginx(t, [plain, ...edges.map(({ port }) => port)]) : [];

  const references: { name: string; verdicts: ReadonlyMap<string, Verdict> }[] = [];
  const [byNode, byNginx] = await Promise.all([
    judgeAll(plain, () => patiently(3000)),
    nginx === undefined ? undefined : judgeAll(nginx, () => patiently(3000)),
  ]);
  references.push({ name: 'node:http', verdicts: byNode });
  if (byNginx !== undefined) references.push({ name: 'nginx', verdicts: byNginx });

  for (const [index, { name, server, port, handled }] of edges.entries()) {
    const verdicts = await judgeAll(port, ({ known }) => patiently(known[server] === 'waits' ? 1500 : 8000));
    await t.test(`the edge on ${name}`, async (t) => {
      for (const each of cases) {
        const verdict = verdicts.get(each.name) ?? 'waits';
        const others = references.map((other) => `${other.name} ${other.verdicts.get(each.name)}`).join(', ');
        t.ok(allowed(each, server).includes(verdict), `${each.name}: ${server} ${verdict}, ${others}`);
      }
      t.strictSame(
        handled.filter(({ path }) => path === smuggledPath),
        [],
        'nothing smuggled was read',
      );
    });
    await t.test(`the edge on ${name} accepts no more than others`, async (t) => {
      for (const { name: other, verdicts: theirs } of references)
        for (const each of cases)
          if (
            verdicts.get(each.name) === 'accepts' &&
            each.known[server] !== 'accepts' &&
            each.rfc !== 'accepts'
          )
            t.not(theirs.get(each.name), 'refuses', `${each.name}: ${other} does not refuse it`);
    });
    const front = fronts[index];
    if (front !== undefined)
      await t.test(`the edge on ${name} behind nginx`, async (t) => {
        handled.length = 0;
        const through = await judgeAll(front, () => patiently(3000));
        for (const each of cases) t.not(through.get(each.name), 'misreads', each.name);
        t.strictSame(
          handled.filter(({ agent }) => agent !== nginxAgent),
          [],
          'every request that was read is one that nginx forwarded',
        );
      });
  }
});
