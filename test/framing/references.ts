/** Starts the servers that verdicts are compared with: plain node:http, and nginx where it is installed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Test } from 'tap';
import { eventually } from '../eventually.ts';
import { freePort } from '../services/child.ts';
import { echo } from './echo.ts';

export const whyNoNginx = (): string | false =>
  spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status === 0 ? false : 'no nginx on PATH';

/** With its defaults. Its port. */
export const startPlainNode = async (t: Test): Promise<number> => {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const [path = '', query = ''] = (request.url ?? '').replace(/^https?:\/\/[^/]+/, '').split('?');
      setTimeout(
        () => response.end(echo(request.method ?? '', path, query, body)),
        path === '/v1/slow' ? 50 : 0,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

/** On every request that nginx forwards, and on none that is hidden in one. */
export const nginxAgent = 'nginx';

/** In front of each of these ports; its own ports, in the same order. */
export const startNginx = async (t: Test, behind: readonly number[]): Promise<readonly number[]> => {
  const ports: number[] = [];
  while (ports.length < behind.length) ports.push(await freePort());
  const servers = behind.map(
    (target, index) => `server {
      listen 127.0.0.1:${ports[index]};
      client_max_body_size 10m;
      location / {
        proxy_pass http://127.0.0.1:${target};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
        proxy_set_header User-Agent ${nginxAgent};
        proxy_request_buffering off;
        proxy_read_timeout 10s;
      }
    }`,
  );
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path temp;`,
  );
  const folder = t.testdir({
    'nginx.conf': `daemon off; pid nginx.pid; error_log stderr emerg; worker_processes 1;
      events {}
      http { access_log off; ${temporary.join(' ')} ${servers.join('\n')} }`,
  });
  const child: ChildProcess = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: 'inherit',
  });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await eventually(() => child.exitCode !== null || child.signalCode !== null, 'nginx to end');
  });
  for (const port of ports) {
    let open = false;
    await eventually(() => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.on('connect', () => {
        open = true;
        socket.destroy();
      });
      return open;
    }, 'nginx');
  }
  return ports;
};
