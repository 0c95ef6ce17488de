/** Shows a call as a TypeScript module for Node: with an SDK where it has the route, else with fetch. */
import type { Call } from '../call.ts';
import { literal, type Notation } from './literal.ts';
import { type SdkCall, sdkBase, sdkCalls } from './sdk.ts';

const text = (value: string): string => JSON.stringify(value);

const notation: Notation = {
  ...{ true: 'true', false: 'false', null: 'null', lastComma: true, indent: '  ' },
  text,
  name: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : text(name)),
  file: ({ prefix, file }) =>
    `${prefix === '' ? '' : `${text(prefix)} + `}readFileSync(${text(file.name)}, "base64")`,
};

export const typescript = (call: Call, base: string): string => {
  const sdk = sdkCalls[call.path];
  const [head, lines] = sdk === undefined ? ['', plain(call, base)] : bySdk(call, sdk, base);
  const program = lines.join('\n');
  const functions = ['readFileSync', 'writeFileSync'].filter((name) => program.includes(`${name}(`));
  const fs = functions.length === 0 ? '' : `import { ${functions.join(', ')} } from "node:fs";\n`;
  const imports = `${head}${fs}`;
  return `${imports}${imports === '' ? '' : '\n'}${program}`;
};

const bySdk = (
  call: Call,
  { client, method, typescript: [condition, delta] }: SdkCall,
  base: string,
): [head: string, lines: string[]] => {
  const Client = client === 'openai' ? 'OpenAI' : 'Anthropic';
  const module = client === 'openai' ? 'openai' : '@anthropic-ai/sdk';
  const streams = call.result.kind === 'events';
  return [
    `// npm install ${module}\nimport ${Client} from "${module}";\n`,
    [
      `const client = new ${Client}({ baseURL: ${text(sdkBase(client, base))}, apiKey: process.env.SLUICE_KEY });`,
      `const ${streams ? 'stream' : 'response'} = await client.${method}(${literal(call.json ?? {}, notation)});`,
      ...(streams
        ? [
            'for await (const event of stream)',
            // Calls of tools are in other events than the text.
            call.json?.tools === undefined
              ? `  if (${condition}) process.stdout.write(${delta});`
              : '  console.log(JSON.stringify(event));',
          ]
        : ['console.log(JSON.stringify(response, null, 2));']),
    ],
  ];
};

const plain = ({ path, json, form, result }: Call, base: string): string[] => [
  `const address = ${text(`${base}${path}`)};`,
  'const authorization = "Bearer " + process.env.SLUICE_KEY;',
  ...(form === undefined ? [] : ['const form = new FormData();']),
  ...(form ?? []).map(([name, value]) =>
    typeof value === 'string'
      ? `form.append(${text(name)}, ${text(value)});`
      : `form.append(${text(name)}, new Blob([readFileSync(${text(value.name)})]), ${text(value.name)});`,
  ),
  'const response = await fetch(address, {',
  '  method: "POST",',
  `  headers: { authorization${json === undefined ? '' : ', "content-type": "application/json"'} },`,
  ...(json === undefined ? [] : [`  body: JSON.stringify(${literal(json, notation, '  ')}),`]),
  ...(form === undefined ? [] : ['  body: form,']),
  '});',
  'if (!response.ok) throw new Error(await response.text());',
  ...endings[result.kind](result.kind === 'json' || result.kind === 'events' ? '' : text(result.name)),
];

const endings: Readonly<Record<Call['result']['kind'], (name: string) => string[]>> = {
  json: () => ['console.log(JSON.stringify(await response.json(), null, 2));'],
  events: () => ['for await (const bytes of response.body ?? []) process.stdout.write(bytes);'],
  file: (name) => [`writeFileSync(${name}, new Uint8Array(await response.arrayBuffer()));`],
  job: (name) => [
    'let job = await response.json();',
    'while (job.status === "pending" || job.status === "in_progress") {',
    '  await new Promise((resolve) => setTimeout(resolve, 1000));',
    '  job = await (await fetch(address + "/" + job.id, { headers: { authorization } })).json();',
    '}',
    'const content = await fetch(address + "/" + job.id + "/content", { headers: { authorization } });',
    'if (!content.ok) throw new Error(await content.text());',
    `writeFileSync(${name}, new Uint8Array(await content.arrayBuffer()));`,
  ],
};
