/** Passages of a store with their files and scores. */
import type { Passage } from '../chat/answer.ts';

export const Passages = ({
  label,
  passages,
}: {
  readonly label: string;
  readonly passages: readonly Passage[];
}) => (
  <ol aria-label={label} class="stack tight">
    {passages.map(({ id, filename, score, content }) => (
      <li key={id}>
        <details>
          <summary>
            {filename} <span class="muted">score {score.toFixed(3)}</span>
          </summary>
          <p class="text-result">{content.map(({ text }) => text).join('\n')}</p>
        </details>
      </li>
    ))}
  </ol>
);
