/** The toy model's chat template: nothing follows the last message, so its last token decides the answer. */

const call = `<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}}
</tool_call>`;

export const jinja = [
  `{%- if tools %}<|tools|># Tools

You may call functions. They are listed in <tools></tools>:
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools>
A call is a JSON object in <tool_call></tool_call>:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|end|>{% endif %}`,
  '{%- for message in messages %}',
  '<|{{ message.role }}|>',
  '{%- if message.content is string %}{{ message.content }}',
  '{%- elif message.content %}{% for part in message.content %}{{ part.text }}{% endfor %}{% endif %}',
  `{%- if message.tool_calls %}{% for call in message.tool_calls %}${call}{% endfor %}{% endif %}`,
  '{%- if not loop.last %}<|end|>{% endif %}',
  '{%- endfor %}',
].join('');

/** The same in Ollama's language. */
export const ollama = `{{- if .Tools }}<|tools|># Tools

You may call functions. They are listed in <tools></tools>:
<tools>{{ range .Tools }}
{{ . }}{{ end }}
</tools>
A call is a JSON object in <tool_call></tool_call>:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|end|>{{ end }}
{{- range $index, $message := .Messages }}
{{- $last := eq (len (slice $.Messages $index)) 1 }}<|{{ .Role }}|>{{ .Content }}
{{- if .ToolCalls }}{{ range .ToolCalls }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}{{ end }}
{{- if not $last }}<|end|>{{ end }}
{{- end }}`;
