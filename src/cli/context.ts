/** `sluice context …`: saves gateways that commands talk to. */
import { type Command, json, UsageError } from './command.ts';
import { print, printJson, printTable, remark } from './output.ts';
import { readContexts, writeContexts } from './remote/contexts.ts';
import { adminAddress } from './remote/target.ts';

/** Commands use the store of `SLUICE_DATA`. */
const local = 'local';

const add: Command = {
  name: 'context add',
  operands: 'NAME',
  arity: [1, 1],
  summary: 'save a gateway and its token under a name, and use it from now on',
  options: {
    url: { value: 'URL', help: 'its admin port, such as http://127.0.0.1:9787' },
    token: { value: 'TOKEN', help: 'token of its admin API' },
  },
  run: async (input) => {
    const [name = ''] = input.operands;
    const [url, token] = [input.text('url'), input.text('token')];
    if (!/^[\w.-]{1,64}$/.test(name) || name === local)
      throw new UsageError(`NAME must be up to 64 letters, digits and . - _, and not "${local}"`);
    if (url === undefined || token === undefined) throw new UsageError('say --url URL and --token TOKEN');
    const { byName } = readContexts();
    writeContexts({ current: name, byName: { ...byName, [name]: { url: adminAddress(url), token } } });
    remark(`Commands talk to ${adminAddress(url)} from now on; back: sluice context use ${local}`);
  },
};

const use: Command = {
  name: 'context use',
  operands: 'NAME',
  arity: [1, 1],
  summary: `use a saved gateway from now on; ${local} is the store of SLUICE_DATA`,
  run: async ({ operands: [name = ''] }) => {
    const { byName } = readContexts();
    if (name !== local) known(byName, name);
    writeContexts({ current: name === local ? undefined : name, byName });
    remark(`Commands use ${name === local ? 'the store of SLUICE_DATA' : byName[name]?.url} from now on.`);
  },
};

const list: Command = {
  name: 'context list',
  summary: 'show saved gateways, without their tokens',
  options: { json },
  run: async (input) => {
    const { current, byName } = readContexts();
    const rows = Object.entries(byName).map(([name, { url }]) => ({ name, url, current: name === current }));
    if (input.given('json')) return printJson(rows);
    if (rows.length === 0) return remark('None. Save one: sluice context add NAME --url URL --token TOKEN');
    printTable(
      ['', 'CONTEXT', 'GATEWAY'],
      rows.map(({ name, url, current: isCurrent }) => [isCurrent ? '*' : '', name, url]),
    );
  },
};

const remove: Command = {
  name: 'context remove',
  operands: 'NAME',
  arity: [1, 1],
  summary: 'forget a saved gateway and its token',
  run: async ({ operands: [name = ''] }) => {
    const { current, byName } = readContexts();
    known(byName, name);
    const { [name]: _, ...rest } = byName;
    writeContexts({ current: current === name ? undefined : current, byName: rest });
    print(`${name} is forgotten.`);
  },
};

const known = (byName: object, name: string): void => {
  if (!Object.hasOwn(byName, name)) throw new Error(`There is no context "${name}": sluice context list`);
};

export const context: readonly Command[] = [add, use, list, remove];
