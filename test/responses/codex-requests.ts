/** Requests as Codex CLI 0.166 sends them: fields and order as captured, texts and lists shortened. */

const id = '01a1e2ba-bc5a-7cb3-b250-24dc1609308b';
const message = (role: string, ...texts: string[]) => ({
  type: 'message',
  id: `msg_${id}`,
  role,
  content: texts.map((text) => ({ type: 'input_text', text })),
});
const schema = (properties: object, ...required: string[]) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});
const functionTool = (name: string, description: string, parameters: object) => ({
  type: 'function',
  name,
  description,
  strict: false,
  parameters,
});
const target = { target: { type: 'string', description: 'Agent id.' } };

export const execCommand = functionTool(
  'exec_command',
  'Runs a command.',
  schema({ cmd: { type: 'string', description: 'Command.' }, tty: { type: 'boolean' } }, 'cmd'),
);
export const closeAgent = functionTool('close_agent', 'Closes an agent.', schema(target, 'target'));
export const applyPatch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files. Do not wrap the patch in JSON.',
  format: {
    type: 'grammar',
    syntax: 'lark',
    definition: 'start: "*** Begin" line+\nline: /.*/ "\\n"\n',
  },
};
export const exec = {
  type: 'custom',
  name: 'exec',
  description: 'Runs JavaScript.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: CODE\nCODE: /.+/s\n' },
};

const fields = {
  stream: true,
  tool_choice: 'auto',
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: id,
  client_metadata: { session_id: id, 'x-codex-turn-metadata': '{"request_kind":"turn"}' },
};
const conversation = [
  message('developer', 'You are a coding agent.'),
  message('developer', '<skills_instructions/>', '<permissions instructions/>'),
  message('user', '<environment_context/>'),
  message('user', 'Fix it'),
];

/** For a model that it has no data of. */
export const unknownModel = {
  model: 'mock/chat',
  ...fields,
  input: conversation,
  tools: [
    execCommand,
    { type: 'namespace', name: 'multi_agent_v1', description: 'Manages agents.', tools: [closeAgent] },
    { type: 'web_search', external_web_access: false },
  ],
  parallel_tool_calls: true,
  reasoning: { summary: 'auto' },
};

/** For a model that edits files by patches and may search for tools. */
export const knownModel = {
  model: 'mock/thinker',
  ...fields,
  input: conversation,
  tools: [
    execCommand,
    applyPatch,
    {
      type: 'tool_search',
      execution: 'client',
      description: 'Searches tools.',
      parameters: schema({ query: { type: 'string' }, limit: { type: 'number' } }, 'query'),
    },
    { type: 'web_search', external_web_access: false, search_content_types: ['text', 'image'] },
  ],
  parallel_tool_calls: true,
  reasoning: { effort: 'medium' },
  text: { verbosity: 'low' },
};

/** For a model whose tools are part of the input. */
export const toolsInInput = {
  model: 'mock/thinker',
  ...fields,
  input: [
    {
      type: 'additional_tools',
      id: `at_${id}`,
      role: 'developer',
      tools: [
        { type: 'namespace', name: 'functions', description: '', tools: [exec] },
        { type: 'namespace', name: 'collaboration', description: 'Manages agents.', tools: [closeAgent] },
      ],
    },
    ...conversation,
  ],
  parallel_tool_calls: false,
  reasoning: { effort: 'low', context: 'all_turns' },
  text: { verbosity: 'low' },
};

/** What it sends back with the next request: the items of a response, and the output of the call. */
export const replayed = (items: readonly object[], output: unknown): object[] => {
  const sent = items.map((item) =>
    'type' in item && item.type === 'reasoning' ? { ...item, encrypted_content: null } : item,
  );
  const call = items.at(-1);
  if (call === undefined || !('type' in call) || !('call_id' in call)) throw new Error('no call');
  const isCustom = call.type === 'custom_tool_call';
  return [
    ...sent,
    {
      type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
      id: `${isCustom ? 'ctco' : 'fco'}_${id}`,
      call_id: call.call_id,
      output,
    },
  ];
};
