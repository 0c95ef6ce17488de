/** `sluice tokens …`: tokens of the admin API, in the store of the gateway. */
import { createAudit } from '../admin/audit.ts';
import { createTokenManagement } from '../admin/tokens.ts';
import type { State } from '../ports/state.ts';
import { type Command, json } from './command.ts';
import { minute, print, printJson, printTable, remark } from './output.ts';
import { withState } from './stores.ts';

const audit = (state: State) => createAudit(state, 'cli');

const create: Command = {
  name: 'tokens create',
  operands: 'NAME',
  arity: [1, 1],
  summary: 'make a token for the admin API and print it, this once',
  details:
    'NAME is who the audit log says has made a change. Tokens are managed in the store only, not over the API.',
  options: { json },
  run: (input) =>
    withState(async (state) => {
      const { token, record } = await createTokenManagement(state).create(input.operands[0] ?? '');
      await audit(state).note({ action: 'token.create', target: record.name, after: record });
      if (input.given('json')) return printJson({ ...record, token });
      print(token);
      remark('Shown once: keep it now, only its hash is stored.');
    }),
};

const list: Command = {
  name: 'tokens list',
  summary: 'show the tokens of the admin API, without their secrets',
  options: { json },
  run: (input) =>
    withState(async (state) => {
      const found = await createTokenManagement(state).list();
      if (input.given('json')) return printJson(found);
      if (found.length === 0) return remark('None in the store.');
      printTable(
        ['TOKEN', 'CREATED (UTC)', 'SECRET'],
        found.map(({ name, created, display }) => [name, minute(created), display]),
      );
    }),
};

const revoke: Command = {
  name: 'tokens revoke',
  operands: 'NAME',
  arity: [1, 1],
  summary: 'refuse a token from now on',
  options: { json },
  run: (input) =>
    withState(async (state) => {
      const before = await createTokenManagement(state).revoke(input.operands[0] ?? '');
      await audit(state).note({ action: 'token.revoke', target: before.name, before });
      if (input.given('json')) return printJson(before);
      print(`${before.name} is revoked.`);
    }),
};

export const tokens: readonly Command[] = [create, list, revoke];
