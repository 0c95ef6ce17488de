/** Tests that what Codex sends reaches the engine, and that its tool loop closes. */
import { of } from 'rxjs';
import t from 'tap';
import type { Tool } from '../../src/ports/engines/chat.ts';
import { finish, harness, hello, thought, toolArguments, toolCall, usage } from '../chat/fixtures.ts';
import {
  applyPatch,
  closeAgent,
  exec,
  execCommand,
  knownModel,
  replayed,
  toolsInInput,
  unknownModel,
} from './codex-requests.ts';
import { ask, callOf, streamOf } from './fixtures.ts';
import { readEvents } from './read-events.ts';

const say = (...texts: string[]) => texts.map((text) => ({ type: 'text', text }));
const conversation = [
  { role: 'developer', content: say('You are a coding agent.') },
  { role: 'developer', content: say('<skills_instructions/>', '<permissions instructions/>') },
  { role: 'user', content: say('<environment_context/>') },
  { role: 'user', content: say('Fix it') },
];

const asFunction = ({ name, description, parameters, strict }: typeof execCommand): Tool => ({
  name,
  description,
  parameters: parameters as Record<string, unknown>,
  strict,
});
const asText = ({ name, description, format }: typeof applyPatch): Tool => ({
  name,
  description: `${description}\n\nThe input must match this grammar (lark):\n${format.definition}`,
  parameters: {
    type: 'object',
    properties: { input: { type: 'string', description: 'The input of the tool: plain text, not JSON' } },
    required: ['input'],
    additionalProperties: false,
  },
});

const rows = [
  {
    title: 'a model that it does not know',
    request: unknownModel,
    tools: [
      asFunction(execCommand),
      {
        ...asFunction(closeAgent),
        name: 'multi_agent_v1__close_agent',
        description: 'Manages agents.\n\nCloses an agent.',
      },
    ],
    effort: undefined,
    called: 'multi_agent_v1__close_agent',
    args: '{"target":"a"}',
    item: {
      type: 'function_call',
      name: 'close_agent',
      namespace: 'multi_agent_v1',
      arguments: '{"target":"a"}',
    },
    output: 'closed',
  },
  {
    title: 'a model that patches',
    request: knownModel,
    tools: [asFunction(execCommand), asText(applyPatch)],
    effort: 'medium',
    called: 'apply_patch',
    args: '{"input":"*** Begin Patch\\n+a \\"b\\"\\n"}',
    item: { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch\n+a "b"\n' },
    output: 'Exit code: 0',
  },
  {
    title: 'a model with its tools in the input',
    request: toolsInInput,
    tools: [
      { ...asText(exec), name: 'functions__exec' },
      {
        ...asFunction(closeAgent),
        name: 'collaboration__close_agent',
        description: 'Manages agents.\n\nCloses an agent.',
      },
    ],
    effort: 'low',
    called: 'functions__exec',
    args: '{"input":"text(1)"}',
    item: { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'text(1)' },
    output: [
      { type: 'input_text', text: 'Script completed\n' },
      { type: 'input_text', text: '1\n' },
    ],
  },
];

for (const { title, request, tools, effort, called, args, item, output } of rows)
  t.test(title, async (t) => {
    const calling = harness(
      of(
        [thought('Hm'), toolCall(0, called)],
        [...args].map((piece) => toolArguments(0, piece)),
        [finish('tool_calls'), usage(5, 2)],
      ),
    );
    const { response } = readEvents(streamOf(await ask(request, calling)));
    t.match(calling.calls[0]?.call, { toolChoice: 'auto', stream: true, thinking: { effort } });
    t.strictSame(calling.calls[0]?.call.messages, conversation);
    t.strictSame(calling.calls[0]?.call.tools, tools);
    t.match(response.output, [{ type: 'reasoning' }, { ...item, call_id: 'call_0', status: 'completed' }]);

    const input = [...request.input, ...replayed(response.output, output)];
    const { messages } = await callOf({ ...request, input }, harness(hello));
    t.strictSame(messages.slice(conversation.length), [
      { role: 'assistant', content: [], toolCalls: [{ id: 'call_0', name: called, arguments: args }] },
      {
        role: 'tool',
        callId: 'call_0',
        content: typeof output === 'string' ? say(output) : say(...output.map(({ text }) => text)),
      },
    ]);
  });
