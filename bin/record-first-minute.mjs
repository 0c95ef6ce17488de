/**
 * Records the first minute with Sluice as an animated SVG: `npm run record` writes docs/first-minute.svg.
 * Starts a gateway on an empty data folder, runs the commands of the README and keeps what they print, with the times.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = join(root, 'docs/first-minute.svg');
const columns = 100;
const [lineHeight, charWidth, margin] = [19, 7.85, 16];
/** Seconds until a gateway has to be up, and a command through. */
const patience = 60;
/** Seconds: between words that are typed, after a command, and the longest pause that a viewer has to watch. */
const [typing, reading, longest] = [0.12, 1.2, 1.5];

if (process.argv.length > 2) {
  const help = ['-h', '--help'].includes(process.argv[2]);
  const text =
    'npm run record\n\nWrites docs/first-minute.svg: a start and the first requests. It takes no options.';
  if (help) console.log(text);
  else console.error(`npm run record: unknown option ${process.argv[2]}; it takes none`);
  process.exit(help ? 0 : 2);
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Lines of the recording: when each piece appears, and how it looks. */
const lines = [];
let clock = 0.5;
const write = (kind, pieces) => lines.push(pieces.map(({ at, text }) => ({ at, text, kind })));
const print = (text, kind = 'out') => write(kind, [{ at: clock, text }]);

/** A command, word by word. */
const type = (command) => {
  for (const [index, line] of command.split('\n').entries()) {
    const words = line.match(/\S+\s*|^\s+/g) ?? [];
    const pieces = words.map((text) => {
      clock += typing;
      return { at: clock, text };
    });
    write('in', [{ at: pieces[0]?.at ?? clock, text: index === 0 ? '$ ' : '  ' }, ...pieces]);
  }
  clock += typing * 3;
};

/** Runs a program; `onLine` gets each line when it is printed. Resolves when it ends, or `until` says so. */
const run = (program, args, env, onLine, until = () => false) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${program} ${args.join(' ')} took longer than ${patience} s`));
    }, patience * 1000);
    const done = () => {
      clearTimeout(late);
      resolve(child);
    };
    let rest = '';
    let last = performance.now();
    child.stdout.setEncoding('utf8').on('data', (piece) => {
      const now = performance.now();
      clock += Math.min((now - last) / 1000, longest);
      last = now;
      const parts = (rest + piece).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) onLine(line);
      if (until(piece)) done();
    });
    child.once('error', reject).once('close', () => {
      if (rest !== '') onLine(rest);
      done();
    });
  });

const folder = mkdtempSync(join(tmpdir(), 'sluice-record-'));
const [port, adminPort] = [await freePort(), await freePort()];
let key = '';
/** As a reader sees it: default ports, and secrets cut. */
const shown = (text) =>
  text
    .replaceAll(`:${port}`, ':8787')
    .replaceAll(`:${adminPort}`, ':9787')
    .replaceAll(folder, '.')
    .replace(/\b(sk-sluice-\w{4})[\w-]+|\b(token\s+\S{8})[\w-]+/g, '$1$2…');
const clip = (text) => (text.length <= columns ? text : `${text.slice(0, columns - 1)}…`);

/** Of an event only its delta. */
const event = (line) => {
  const delta = /"delta":(\{.*?\})/.exec(line)?.[1];
  const usage = /"usage":(\{.*?\})/.exec(line)?.[1];
  if (usage !== undefined) return `data: {… "usage":${usage.replace(/,"\w+_details.*/, ' …}')} …}`;
  return delta === undefined ? line : `data: {… "delta":${delta} …}`;
};

let gateway;
try {
  type('npm start');
  let up = false;
  gateway = await run(
    process.execPath,
    ['bin/sluice.mjs', 'serve'],
    {
      PORT: String(port),
      SLUICE_ADMIN_PORT: String(adminPort),
      SLUICE_DATA: join(folder, 'data'),
      SLUICE_CONFIG: '',
    },
    (line) => {
      key = /\b(sk-sluice-[\w-]+)/.exec(line)?.[1] ?? key;
      if (/Try it:|codec/.test(line)) up = true;
      if (!up) print(clip(shown(line)));
    },
    (piece) => piece.includes('Try it:'),
  );
  clock += reading;
  const env = {
    SLUICE_URL: `http://127.0.0.1:${port}/v1`,
    SLUICE_KEY: key,
    SLUICE_DATA: join(folder, 'data'),
  };
  print('# in a second terminal', 'note');
  type(`export SLUICE_URL=http://127.0.0.1:8787/v1 SLUICE_KEY=${shown(key)}`);

  const request = [
    'curl -sN $SLUICE_URL/chat/completions -H "Authorization: Bearer $SLUICE_KEY" --json \\',
    `  '{"model":"sluice/chat","stream":true,"max_tokens":6,`,
    `    "messages":[{"role":"user","content":"Hello"}]}'`,
  ].join('\n');
  type(request);
  await run('bash', ['-c', request], env, (line) => {
    if (line !== '') print(clip(event(line)));
  });
  clock += reading;

  const columnsOfUsage = 'cut -d, -f 1,2,4,5,11';
  type(`npx sluice usage --csv | ${columnsOfUsage}`);
  const usage = `"${process.execPath}" bin/sluice.mjs usage --csv | ${columnsOfUsage}`;
  await run('bash', ['-c', usage], env, (line) => print(clip(shown(line))));
  type('');
} finally {
  gateway?.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

const escaped = (text) =>
  text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);
const [width, height] = [
  Math.ceil(columns * charWidth + 2 * margin),
  lines.length * lineHeight + 2 * margin + 24,
];
const body = lines.map((pieces, row) => {
  const spans = pieces.map(
    ({ at, text, kind }) =>
      `<tspan class="${kind}" style="animation-delay:${at.toFixed(2)}s">${escaped(text)}</tspan>`,
  );
  return `<text x="${margin}" y="${margin + 30 + row * lineHeight}" xml:space="preserve">${spans.join('')}</text>`;
});
writeFileSync(
  file,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal: the gateway starts, curl streams a chat completion, sluice usage shows what it cost">
<style>
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #f0f6fc }
  tspan { animation: appear 1ms linear backwards }
  .in { fill: #7ee787 } .note { fill: #9198a1 }
  @keyframes appear { from { fill-opacity: 0 } to { fill-opacity: 1 } }
  @media (prefers-reduced-motion: reduce) { tspan { animation: none } }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117" stroke="#3d444d"/>
<circle cx="20" cy="18" r="5" fill="#656c76"/><circle cx="38" cy="18" r="5" fill="#656c76"/><circle cx="56" cy="18" r="5" fill="#656c76"/>
${body.join('\n')}
</svg>
`,
);
console.log(`${file}: ${lines.length} lines, ${clock.toFixed(1)} s`);
