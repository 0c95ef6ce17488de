/** What is wrong with a model, an engine or the gateway now, a sentence each. */
import { Note } from '../../ui/note.tsx';

export const Problems = ({
  problems,
  tone = 'warning',
}: {
  readonly problems: readonly string[];
  readonly tone?: 'warning' | 'bad';
}) =>
  problems.length === 0 ? null : (
    <Note tone={tone}>
      {problems.length === 1 ? (
        <p>{problems[0]}.</p>
      ) : (
        <ul>
          {problems.map((problem) => (
            <li key={problem}>{problem}.</li>
          ))}
        </ul>
      )}
    </Note>
  );
