/** The fields of the chat format, and those of older or richer ones that it refuses. */
import { ChatRequest } from '../../schemas/chat/request.ts';
import { dialect, namesOf, refusal } from '../conversation/other-fields.ts';
import { isNothing } from '../conversation/server-fields.ts';

export const chatFields = dialect({
  // Retrieval-augmented chat has the same fields and one more.
  own: [...namesOf(ChatRequest), 'collection'],
  refused: {
    audio: refusal(),
    function_call: refusal(': use tool_choice', (value) => value === 'none' || isNothing(value)),
    functions: refusal(': use tools'),
    modalities: refusal('', isTextOnly),
  },
  instead: {
    format: 'response_format',
    reasoning: 'reasoning',
    limit: 'max_completion_tokens',
    repetition: 'repetition_penalty',
  },
});

function isTextOnly(value: unknown): boolean {
  return Array.isArray(value) && value.every((modality) => modality === 'text');
}
