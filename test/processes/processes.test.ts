/** Tests several gateways on one port: rolling replacement under load, and restart after crashes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { Agent, fetch as undiciFetch } from 'undici';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { childrenOf, environmentOf, key } from './supervised.ts';

const main = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

interface Running {
  readonly process: ChildProcess;
  readonly url: string;
  readonly admin: string;
}

const start = async (t: Test, args: readonly string[]): Promise<Running> => {
  const child = spawn(process.execPath, [main, 'serve', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...environmentOf(t),
      LOG_LEVEL: 'silent',
    },
  });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  let text = '';
  for await (const piece of child.stdout) {
    text += String(piece);
    const url = /base URL {3}(\S+)/.exec(text)?.[1];
    const admin = /metrics {4}(\S+)\/metrics/.exec(text)?.[1];
    if (url !== undefined && admin !== undefined) return { process: child, url, admin };
  }
  throw new Error(`it ended: ${text}`);
};

const metrics = async (admin: string): Promise<string> => (await fetch(`${admin}/metrics`)).text();

const deaths = (text: string): string | undefined => /^sluice_process_deaths_total (\d+)$/m.exec(text)?.[1];

/** Places of the processes that answer now. */
const members = async (admin: string): Promise<readonly string[]> =>
  [...(await metrics(admin)).matchAll(/^process_resident_memory_bytes\{process="(\d+)"\}/gm)].map(
    ([, place]) => String(place),
  );

// One supervisor for all: slots are given anew where processes are replaced, so those of the start come first.
t.test('two processes', async (t) => {
  const gateway = await start(t, ['--processes', '2']);

  await t.test('a process that does not respond does not block the others', async (t) => {
    const [silent = 0] = await childrenOf(gateway.process);
    process.kill(silent, 'SIGSTOP');
    t.equal((await fetch(`${gateway.admin}/readyz`)).status, 200);
    t.equal((await members(gateway.admin)).length, 1);
    process.kill(silent, 'SIGCONT');
    await eventually(async () => (await members(gateway.admin)).length === 2, 'it speaks again');
  });

  await t.test('a process that dies is replaced', { skip: onlyLong }, async (t) => {
    const children = await childrenOf(gateway.process);
    t.equal(children.length, 2);
    process.kill(children[0] ?? 0, 'SIGKILL');
    await eventually(async () => {
      const now = await childrenOf(gateway.process);
      return (
        now.length === 2 && !now.includes(children[0] ?? 0) && (await members(gateway.admin)).length === 2
      );
    }, 'a new process');
    t.strictSame([...(await members(gateway.admin))].sort(), ['1', '2'], 'in the place of the other');
    t.match(await metrics(gateway.admin), /^sluice_process_deaths_total 1$/m);
  });

  await t.test('every process is replaced under load, and no request is lost', async (t) => {
    const before = await childrenOf(gateway.process);
    t.strictSame([...(await members(gateway.admin))].sort(), ['1', '2']);
    const died = deaths(await metrics(gateway.admin));
    t.equal((await fetch(`${gateway.admin}/readyz`)).status, 200);

    const agent = new Agent({ connections: 4 });
    t.teardown(() => agent.close());
    const client = new OpenAI({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
    const ask = {
      model: 'sluice/chat',
      messages: [{ role: 'user' as const, content: '/sim tokens=5\nGo on.' }],
    };
    let running = true;
    const statuses: number[] = [];
    const load = Array.from({ length: 4 }, async () => {
      while (running) {
        const response = await undiciFetch(`${gateway.url}/chat/completions`, {
          method: 'POST',
          dispatcher: agent,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(ask),
        });
        await response.text();
        statuses.push(response.status);
      }
    });
    let streams = 0;
    const cut: string[] = [];
    const listening = Array.from({ length: 3 }, async () => {
      while (running) {
        const stream = await client.chat.completions.create({
          ...ask,
          messages: [{ role: 'user', content: '/sim tokens=40 rate=40/s\nGo on.' }],
          stream: true,
        });
        let reason: string | null | undefined;
        for await (const chunk of stream) reason = chunk.choices[0]?.finish_reason ?? reason;
        if (reason !== 'stop') cut.push(String(reason));
        streams++;
      }
    });

    await eventually(async () => statuses.length > 20 && streams > 0, 'load');
    gateway.process.kill('SIGUSR2');
    await eventually(async () => {
      const now = await childrenOf(gateway.process);
      return now.length === 2 && now.every((id) => !before.includes(id));
    }, 'replacement');
    t.equal((await members(gateway.admin)).length, 2);
    running = false;
    await Promise.all([...load, ...listening]);
    t.strictSame(
      statuses.filter((status) => status !== 200),
      [],
      `${statuses.length} answers and ${streams} streams`,
    );

    t.strictSame(cut, [], 'no stream is cut');

    const counted = await eventually(async () => {
      const response = await fetch(`${gateway.url}/usage?group_by=model`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const { data } = (await response.json()) as { data: { requests: number; failed: number }[] };
      const [total] = data;
      return total !== undefined && total.requests >= statuses.length + streams ? total : false;
    }, 'billing');
    t.match(counted, { requests: statuses.length + streams, failed: 0 }, 'each is billed once');
    t.equal(deaths(await metrics(gateway.admin)), died, 'none of them died');
  });

  await t.test('the supervisor ends with its gateways', async (t) => {
    gateway.process.kill('SIGTERM');
    t.strictSame(await once(gateway.process, 'exit'), [0, null]);
  });
});

t.test('gateways that cannot start end the supervisor with the reason', { skip: onlyLong }, async (t) => {
  const child = spawn(process.execPath, [main, 'serve', '--processes', '2'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: '0', SLUICE_DATA: t.testdir(), REDIS_URL: 'redis://127.0.0.1:1' },
  });
  const exited = once(child, 'exit');
  let text = '';
  for await (const piece of child.stderr) text += String(piece);
  t.strictSame(await exited, [1, null]);
  t.match(text, /^sluice serve: Redis at 127\.0\.0\.1:1 /m, 'the gateway says why');
  t.match(text, /^sluice serve: A gateway process did not start \(code 1\)$/m);
});

t.test('an invalid number is refused', async (t) => {
  const child = spawn(process.execPath, [main, 'serve', '--processes', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  for await (const piece of child.stderr) text += String(piece);
  t.equal(text, 'sluice serve: --processes must be a whole number from 1 to 256, not "0"\n');
});
