/** The settings of a conversation: dialect, model, system prompt, tools, schema, sampling. */
import { useState } from 'preact/hooks';
import type { ModelEntry } from '../../../../../schemas/model-entry.ts';
import { Checkbox, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { type ModelChoice, numberOf } from '../parts.tsx';
import { readSchema, readTools, type Settings } from './conversation.ts';
import { dialects } from './dialect.ts';

const exampleTools = `[
  {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
      "type": "object",
      "properties": { "city": { "type": "string" } },
      "required": ["city"]
    }
  }
]`;

const exampleSchema = `{
  "type": "object",
  "properties": {
    "city": { "type": "string" },
    "days": { "type": "integer" }
  },
  "required": ["city", "days"],
  "additionalProperties": false
}`;

/** Its value, or why there is none. */
const attempt = <T,>(read: () => T): { readonly value?: T; readonly problem?: string } => {
  try {
    return { value: read() };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
};

export interface ChatSettings {
  readonly dialect: (typeof dialects)[number];
  /** Undefined while a field cannot be read. */
  readonly settings: Settings | undefined;
  readonly fields: preact.ComponentChildren;
}

const effortsOf = ({ reasoning }: ModelEntry): readonly string[] => reasoning?.supported_efforts ?? [];

export const useSettings = ({ model, field }: ModelChoice): ChatSettings => {
  const [dialectId, setDialect] = useState('chat');
  const [system, setSystem] = useState('');
  const [withTools, setWithTools] = useState(false);
  const [tools, setTools] = useState(exampleTools);
  const [withSchema, setWithSchema] = useState(false);
  const [schema, setSchema] = useState(exampleSchema);
  const [effort, setEffort] = useState('');
  const [temperature, setTemperature] = useState('');
  const [maxTokens, setMaxTokens] = useState('');
  const [first] = dialects;
  const dialect = dialects.find(({ id }) => id === dialectId) ?? first;
  if (dialect === undefined) throw new Error('There is no dialect');
  const readToolsNow = attempt(() => (withTools ? readTools(tools) : []));
  const readSchemaNow = attempt(() => (withSchema ? readSchema(schema) : undefined));
  const settings =
    readToolsNow.value === undefined || readSchemaNow.problem !== undefined
      ? undefined
      : {
          model: model.id,
          system,
          tools: readToolsNow.value,
          schema: readSchemaNow.value,
          effort: effortsOf(model).includes(effort) ? effort : '',
          temperature: numberOf(temperature),
          maxTokens: numberOf(maxTokens),
        };
  const fields = (
    <>
      <SelectField
        label="Dialect"
        value={dialect.id}
        onChange={setDialect}
        options={dialects.map(({ id, title }) => ({ value: id, label: title }))}
      />
      {field}
      <TextArea label="System prompt" value={system} onChange={setSystem} rows={2} />
      {effortsOf(model).length > 0 && (
        <SelectField
          label="Reasoning effort"
          value={effort}
          onChange={setEffort}
          options={[{ value: '', label: 'as the model does' }, ...effortsOf(model)]}
        />
      )}
      <TextField
        label="Temperature"
        type="number"
        value={temperature}
        onChange={setTemperature}
        min={0}
        max={2}
        step={0.1}
      />
      <TextField
        label="Max tokens"
        type="number"
        value={maxTokens}
        onChange={setMaxTokens}
        min={1}
        step={1}
      />
      <Checkbox label="Tools" checked={withTools} onChange={setWithTools} />
      {withTools && (
        <TextArea
          label="Tools as JSON"
          value={tools}
          onChange={setTools}
          rows={10}
          mono
          problem={readToolsNow.problem}
        />
      )}
      <Checkbox label="JSON by a schema" checked={withSchema} onChange={setWithSchema} />
      {withSchema && (
        <TextArea
          label="JSON schema"
          value={schema}
          onChange={setSchema}
          rows={8}
          mono
          problem={readSchemaNow.problem}
        />
      )}
    </>
  );
  return { dialect, settings, fields };
};
