/** A first streamed chat request in the languages of the official SDKs. */

export interface Example {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

const question = 'Why is the sky blue?';

export const firstRequests = (base: string, model: string): readonly Example[] => [
  { id: 'curl', title: 'curl', text: curl(base, model) },
  { id: 'python', title: 'Python', text: python(base, model) },
  { id: 'typescript', title: 'TypeScript', text: typescript(base, model) },
  { id: 'anthropic', title: 'Anthropic SDK', text: anthropic(base, model) },
];

const curl = (base: string, model: string): string => {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: question }] });
  // A single quote cannot be escaped inside single quotes.
  return `curl -N ${base}/chat/completions \\
  -H "Authorization: Bearer $SLUICE_KEY" -H 'Content-Type: application/json' \\
  -d '${body.replaceAll("'", "'\\''")}'`;
};

const python = (base: string, model: string): string => `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(base)}, api_key=os.environ["SLUICE_KEY"])
stream = client.chat.completions.create(
    model=${JSON.stringify(model)},
    messages=[{"role": "user", "content": ${JSON.stringify(question)}}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`;

const typescript = (base: string, model: string): string => `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: process.env.SLUICE_KEY });
const stream = await client.chat.completions.create({
  model: ${JSON.stringify(model)},
  messages: [{ role: 'user', content: ${JSON.stringify(question)} }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`;

/** That SDK adds `/v1` itself. */
const anthropic = (base: string, model: string): string => `# pip install anthropic
import os
from anthropic import Anthropic

client = Anthropic(base_url=${JSON.stringify(base.replace(/\/v1$/, ''))}, api_key=os.environ["SLUICE_KEY"])
with client.messages.stream(
    model=${JSON.stringify(model)},
    max_tokens=1024,
    messages=[{"role": "user", "content": ${JSON.stringify(question)}}],
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)`;
