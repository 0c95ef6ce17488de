/** Finds contradictions in a well-formed configuration: names, prices, kinds, limits. */
import type { ModelKind, ModelRow } from '../../schemas/catalog.ts';
import type { ConfigFile } from '../../schemas/config-file.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import { SIMULATOR } from '../../schemas/simulator.ts';
import { wires } from '../engines/wires.ts';
import { nearest } from '../helpers/nearest.ts';
import { checkFallbacks } from './fallbacks.ts';
import { kindDefaults } from './kind-defaults.ts';
import { aliasPrefix } from './model-names.ts';
import type { Path, Problem } from './problems.ts';

type Report = (path: Path, says: string) => void;

/** Colons begin a variant; the rest would not survive a URL or a log line. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/;
const maxIdLength = 200;

export const rowProblems = (file: ConfigFile): Problem[] => {
  const problems: Problem[] = [];
  const report: Report = (path, says) => {
    problems.push({ path, says });
  };
  // Most likely cut short or generated wrongly: with it a running gateway would answer every request with a 404.
  if (Object.keys(file.models).length === 0) report(['models'], 'must have at least one model');
  if (file.engines?.[SIMULATOR] !== undefined) report(['engines', SIMULATOR], 'is built in and takes no row');
  for (const [name, row] of Object.entries(file.engines ?? {})) {
    const { wire, forward } = row;
    if (!wires.has(wire)) report(['engines', name, 'wire'], `must be one of ${[...wires.keys()].join(', ')}`);
    if (row.continues === true && wires.has(wire) && wires.get(wire)?.chat?.continuation === undefined)
      report(['engines', name, 'continues'], `must not be true: wire ${wire} has no continuation`);
    checkForward(['engines', name, 'forward'], forward, report);
    checkSession(name, row, report);
  }
  for (const [id, row] of Object.entries(file.models)) {
    checkId(id, report);
    checkEngine(file, id, row, report);
    checkKind(id, row, report);
    checkReasoning(id, row, report);
    checkVoices(id, row, report);
    checkForward(['models', id, 'forward'], row.forward, report);
  }
  checkFallbacks(file.models, report);
  checkNames(file, report);
  checkDefaults(file, report);
  return problems;
};

const checkId = (id: string, report: Report): void => {
  if (idPattern.test(id) && id.length <= maxIdLength) return;
  report(
    ['models', id],
    id.includes(':')
      ? 'must not have a colon in its id: what follows a colon is read as a variant'
      : `must have an id of letters, digits, dots, dashes, underscores and slashes, at most ${maxIdLength}`,
  );
};

const checkEngine = (file: ConfigFile, id: string, row: ModelRow, report: Report): void => {
  const known = [...Object.keys(file.engines ?? {}), SIMULATOR];
  if (known.includes(row.engine)) return;
  const meant = nearest(row.engine, known);
  report(
    ['models', id, 'engine'],
    `names no row under engines${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
};

const checkKind = (id: string, row: ModelRow, report: Report): void => {
  const kind = row.kind ?? 'chat';
  const { tokenContext, priced } = kindDefaults[kind];
  const at = (field: string): Path => ['models', id, field];

  if (tokenContext && row.context_length === undefined)
    report(at('context_length'), `is missing: ${a(kind)} model needs it`);
  if (!tokenContext)
    for (const field of ['context_length', 'max_completion_tokens'] as const)
      if (row[field] !== undefined) report(at(field), `has no meaning for ${a(kind)} model`);
  if ((row.max_completion_tokens ?? 0) > (row.context_length ?? Number.POSITIVE_INFINITY))
    report(at('max_completion_tokens'), 'must be at most context_length');

  for (const [half, price] of Object.entries(row.pricing ?? {})) {
    const allowed = priced === 'both' || half === priced || price === '0';
    if (!allowed)
      report([...at('pricing'), half], `must be left out: ${a(kind)} model is priced by ${priced} alone`);
  }
  for (const [field, owner] of [
    ['voices', 'speech'],
    ['reasoning', 'chat'],
    ['default_parameters', 'chat'],
    ['forward', 'chat'],
  ] as const)
    if (row[field] !== undefined && kind !== owner) report(at(field), `is for ${owner} models only`);
  if (row.render_slots !== undefined && kind !== 'video' && kind !== 'music')
    report(at('render_slots'), 'is for video and music models only');
  for (const member of Object.keys(row.capabilities ?? {}))
    if (member !== kind) report([...at('capabilities'), member], `is for ${member} models only`);
};

const checkReasoning = (id: string, row: ModelRow, report: Report): void => {
  const reasoning = row.reasoning;
  if (reasoning === undefined) return;
  const at = (field: string): Path => ['models', id, 'reasoning', field];
  const efforts = reasoning.supported_efforts;
  if (
    reasoning.default_effort !== undefined &&
    efforts !== undefined &&
    !efforts.includes(reasoning.default_effort)
  )
    report(at('default_effort'), `must be one of supported_efforts: ${efforts.join(', ')}`);
  if (!reasoning.mandatory) return;
  if (efforts?.includes('none'))
    report(at('supported_efforts'), 'must not have none when reasoning is mandatory');
  if (reasoning.default_enabled === false)
    report(at('default_enabled'), 'must not be false when reasoning is mandatory');
};

/** A voice that cannot be sent to the engine would come out as another one. */
const checkVoices = (id: string, { engine, capabilities }: ModelRow, report: Report): void => {
  const { asked_by: askedBy = 'openai', ...speech } = capabilities?.speech ?? {};
  if (engine === SIMULATOR || askedBy !== 'openai') return;
  for (const voice of ['design', 'clone'] as const)
    if (speech[voice] === true)
      report(
        ['models', id, 'capabilities', 'speech', voice],
        'needs asked_by vllm or sluice: plain OpenAI servers have no words for it',
      );
};

const checkSession = (name: string, { balance, session }: EngineRow, report: Report): void => {
  if (balance === 'session' && session === undefined)
    report(['engines', name, 'session'], 'is missing: balance session needs a header or a field');
  if (session === undefined) return;
  if (balance !== 'session') report(['engines', name, 'session'], 'has no meaning without balance session');
  if ((session.header === undefined) === (session.field === undefined))
    report(['engines', name, 'session'], 'must have either header or field');
};

/** Limits and bills depend on these, so no client's own value reaches an engine. */
const decided = new Set([
  'model',
  'messages',
  'prompt',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'best_of',
  'echo',
]);

const checkForward = (path: Path, forward: ModelRow['forward'], report: Report): void => {
  forward?.forEach((name, index) => {
    if (decided.has(name)) report([...path, String(index)], 'names a field that the gateway sets itself');
  });
};

/** Every name a client may send leads to one model: own ids, former ids, and both under the alias prefix. */
const checkNames = (file: ConfigFile, report: Report): void => {
  const owners = new Map<string, string>();
  const claim = (name: string, id: string, path: Path): void => {
    const owner = owners.get(name);
    if (owner === undefined) owners.set(name, id);
    else report(path, owner === id ? 'is written twice' : `is already a name of models.${owner}`);
  };
  for (const id of Object.keys(file.models)) owners.set(id, id);
  for (const [id, row] of Object.entries(file.models)) {
    claim(aliasPrefix + id, id, ['models', id]);
    row.legacy_ids?.forEach((legacy, index) => {
      const path = ['models', id, 'legacy_ids', String(index)];
      claim(legacy, id, path);
      claim(aliasPrefix + legacy, id, path);
    });
  }
};

const checkDefaults = (file: ConfigFile, report: Report): void => {
  for (const [kind, id] of Object.entries(file.defaults ?? {})) {
    const row = file.models[id];
    const own = row?.kind ?? 'chat';
    if (row === undefined) report(['defaults', kind], 'names no row under models');
    else if (own !== kind) report(['defaults', kind], `names ${a(own)} model`);
    else if (row.served === false) report(['defaults', kind], 'names a model that is not served');
  }
};

const a = (kind: ModelKind): string => `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
