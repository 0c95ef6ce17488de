/** Shows a call as a Python program: with an SDK where it has the route, else with requests. */
import type { Call } from '../call.ts';
import { literal, membersOf, type Notation } from './literal.ts';
import { type SdkCall, sdkBase, sdkCalls } from './sdk.ts';

/** The escapes of JSON mean the same in Python. */
const text = (value: string): string => JSON.stringify(value);

const notation: Notation = {
  ...{ true: 'True', false: 'False', null: 'None', lastComma: true, indent: '    ' },
  text,
  name: text,
  file: ({ prefix, file }) => `encoded(${text(file.name)}, ${text(prefix)})`,
};

const encoded = `
def encoded(path, prefix):
    with open(path, "rb") as file:
        return prefix + base64.b64encode(file.read()).decode()

`;

export const python = (call: Call, base: string): string => {
  const sdk = sdkCalls[call.path];
  const lines = sdk === undefined ? plain(call, base) : bySdk(call, sdk, base);
  const program = lines.join('\n');
  const imports = ['base64', 'os', 'time'].filter((name) =>
    new RegExp(`\\b${name}\\.`).test(program + usesFile(program)),
  );
  const [install, ...rest] = program.split('\n');
  return [
    install,
    ...imports.map((name) => `import ${name}`),
    rest.shift(),
    ...(usesFile(program) === '' ? [] : [encoded]),
    ...rest,
  ].join('\n');
};

const usesFile = (program: string): string => (program.includes('encoded(') ? encoded : '');

const bySdk = (
  call: Call,
  { client, method, python: [condition, delta] }: SdkCall,
  base: string,
): string[] => {
  const Client = client === 'openai' ? 'OpenAI' : 'Anthropic';
  const fields = membersOf(call.json ?? {}).map(
    ([name, value]) => `    ${name}=${literal(value, notation, '    ')},`,
  );
  const streams = call.result.kind === 'events';
  return [
    `# pip install ${client}`,
    `from ${client} import ${Client}`,
    '',
    `client = ${Client}(base_url=${text(sdkBase(client, base))}, api_key=os.environ["SLUICE_KEY"])`,
    `${streams ? 'stream' : 'response'} = client.${method}(`,
    ...fields,
    ')',
    ...(streams
      ? ['for event in stream:', ...printed(call, condition, delta)]
      : ['print(response.model_dump_json(indent=2))']),
  ];
};

/** Calls of tools are in other events than the text. */
const printed = ({ json }: Call, condition: string, delta: string): string[] =>
  json?.tools === undefined
    ? [`    if ${condition}:`, `        print(${delta}, end="", flush=True)`]
    : ['    print(event.model_dump_json())'];

const plain = ({ path, json, form, result }: Call, base: string): string[] => {
  const data = form?.filter(([, value]) => typeof value === 'string') ?? [];
  const files = form?.filter(([, value]) => typeof value !== 'string') ?? [];
  return [
    '# pip install requests',
    'import requests',
    '',
    `address = ${text(`${base}${path}`)}`,
    'headers = {"Authorization": f"Bearer {os.environ[\'SLUICE_KEY\']}"}',
    'response = requests.post(',
    '    address,',
    '    headers=headers,',
    ...(json === undefined ? [] : [`    json=${literal(json, notation, '    ')},`]),
    ...(data.length === 0
      ? []
      : [
          `    data=[${data.map(([name, value]) => `(${text(name)}, ${text(value as string)})`).join(', ')}],`,
        ]),
    ...(files.length === 0
      ? []
      : [
          `    files=[${files
            .map(
              ([name, value]) =>
                `(${text(name)}, open(${text(typeof value === 'string' ? value : value.name)}, "rb"))`,
            )
            .join(', ')}],`,
        ]),
    ...(result.kind === 'events' ? ['    stream=True,'] : []),
    ')',
    'response.raise_for_status()',
    ...endings[result.kind](result.kind === 'json' || result.kind === 'events' ? '' : text(result.name)),
  ];
};

const endings: Readonly<Record<Call['result']['kind'], (name: string) => string[]>> = {
  json: () => ['print(response.text)'],
  events: () => ['for line in response.iter_lines():', '    print(line.decode())'],
  file: (name) => [`with open(${name}, "wb") as file:`, '    file.write(response.content)'],
  job: (name) => [
    'job = response.json()',
    'while job["status"] in ("pending", "in_progress"):',
    '    time.sleep(1)',
    '    job = requests.get(f"{address}/{job[\'id\']}", headers=headers).json()',
    'content = requests.get(f"{address}/{job[\'id\']}/content", headers=headers)',
    'content.raise_for_status()',
    `with open(${name}, "wb") as file:`,
    '    file.write(content.content)',
  ],
};
