/** Reads CHANGELOG.md as Keep a Changelog has it, and turns "Unreleased" into a release. */

const groups = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

interface Section {
  /** `Unreleased`, or a version. */
  readonly name: string;
  readonly date: string | undefined;
  readonly body: string;
}

export const sectionsOf = (text: string): readonly Section[] =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [head = '', ...body] = section.split('\n');
      const [, name = head, date] = /^\[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$/.exec(head) ?? [];
      return { name, date, body: body.join('\n').trim() };
    });

/** What is wrong with it; none: nothing. */
export const problemsOf = (text: string): readonly string[] => {
  const sections = sectionsOf(text);
  const problems: string[] = [];
  if (sections[0]?.name !== 'Unreleased') problems.push('the first section is not "## [Unreleased]"');
  for (const { name, date, body } of sections) {
    if (name !== 'Unreleased' && (!/^\d+\.\d+\.\d+/.test(name) || date === undefined))
      problems.push(`"## ${name}" is not "## [version] - date"`);
    const found = [...body.matchAll(/^### (.+)$/gm)].map(([, group = '']) => group);
    const unknown = found.filter((group) => !groups.includes(group));
    if (unknown.length > 0)
      problems.push(`[${name}] has "### ${unknown[0]}", not one of ${groups.join(', ')}`);
    if (new Set(found).size < found.length) problems.push(`[${name}] has a group twice`);
  }
  return problems;
};

/** "Unreleased" becomes the section of the version, and an empty one takes its place. */
export const release = (text: string, version: string, date: string): string => {
  const [unreleased] = sectionsOf(text);
  if (unreleased?.name !== 'Unreleased' || !unreleased.body.includes('\n- '))
    throw new Error('CHANGELOG.md: [Unreleased] has no entry');
  return text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`);
};
