/** An nginx in front of gateways: one process that tries the next gateway when one refuses the connection. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Disturbed, disturbed, freePort, launch } from '../../services/child.ts';
import { answers } from '../stack.ts';

export interface LoadBalancer extends Disturbed {
  /** Base address, ending in `/v1`. */
  readonly url: string;
}

/** Why there is none; undefined when there is one. */
export const nginxMissing = (): string | undefined =>
  spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status === 0 ? undefined : 'no nginx on PATH';

/** Its address has to be known before the gateways start: they put it into links. */
export const prepareFront = async (folder: string) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/v1`;
  return {
    url,
    start: async (gateways: readonly number[]): Promise<LoadBalancer> => {
      mkdirSync(folder, { recursive: true });
      const file = join(folder, 'nginx.conf');
      writeFileSync(file, configuration(folder, port, gateways));
      const args = ['-e', join(folder, 'error.log'), '-p', folder, '-c', file];
      return { url, ...(await disturbed(() => launch('nginx', args, () => answers(url)))) };
    },
  };
};

const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

const configuration = (folder: string, port: number, gateways: readonly number[]): string => `
daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
events { worker_connections 2048; }
http {
  access_log off;
  ${temporary.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join('\n  ')}
  client_max_body_size 64m;
  upstream gateways {
    least_conn;
    ${gateways.map((each) => `server 127.0.0.1:${each} max_fails=1 fail_timeout=1s;`).join('\n    ')}
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      # A request that a gateway may have received is not sent again: it could be billed twice.
      proxy_next_upstream error timeout;
      proxy_connect_timeout 1s;
      proxy_read_timeout 300s;
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }
}
`;
