/** Calls of both APIs beside the browser: to prepare a scenario, and to see what its changes did. */
import assert from 'node:assert/strict';
import { eventually } from '../eventually.ts';
import type { Target } from './scene.ts';

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the route replies
  readonly body: any;
}

const call = async (url: string, token: string, method: string, body?: object): Promise<Reply> => {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
};

/** Of the admin API; fails unless it succeeds. */
export const adminCall = async (
  { admin, adminToken }: Target,
  method: string,
  path: string,
  body?: object,
): Promise<Reply['body']> => {
  const reply = await call(`${admin}/admin/v1${path}`, adminToken, method, body);
  assert.ok(reply.status < 300, `${method} ${path}: ${JSON.stringify(reply)}`);
  return reply.body;
};

export const publicCall = ({ root }: Target, key: string, path: string, body?: object): Promise<Reply> =>
  call(`${root}/v1${path}`, key, body === undefined ? 'GET' : 'POST', body);

/** A short chat request. */
export const chat = (target: Target, key: string): Promise<Reply> =>
  publicCall(target, key, '/chat/completions', {
    ...{ model: 'sluice/chat', max_tokens: 5 },
    messages: [{ role: 'user', content: 'Hello' }],
  });

/** Gateways apply changes within some seconds. */
export const chatBecomes = (target: Target, key: string, status: number): Promise<Reply> =>
  eventually(async () => {
    const reply = await chat(target, key);
    return reply.status === status && reply;
  }, `a chat request gets ${status}`);

/** A key of a subscription of its own. */
export const newKey = async (
  target: Target,
  name: string,
  settings: object = {},
): Promise<{ readonly id: string; readonly secret: string; readonly subscription: string }> => {
  const { id: subscription } = await adminCall(target, 'POST', '/subscriptions', { name: `${name} team` });
  return adminCall(target, 'POST', '/keys', { subscription, name, ...settings });
};
