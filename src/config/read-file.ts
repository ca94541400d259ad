import { ConfigError } from './config-error.ts';
import { nearestName } from '../lib/text/nearest-name.ts';
import type { Config, ModelConfig, PassThroughConfig, ProviderConfig } from './config.ts';
import { formatPath, readDocument } from './document.ts';
import type { ConfigDocument, Path, Problem } from './document.ts';
import { fileConfig, modelOf, passThroughOf, providerOf } from './file-config.ts';
import type { FileConfig } from './file-config.ts';
import { originsOf } from './origins.ts';
import { isContainer, problem, unknownName, valueAt } from './problems.ts';
import { readOptions, type AdapterOptions, type CheckedOptions } from './read-options.ts';
import type { ReadText } from './secret-file.ts';
import { validate } from './validate.ts';
import { isModelSlug, isPassThroughKey, modelEntry, passThroughEntry, provider } from './schema/models.ts';
import { safetyProblems } from './schema/safe-addresses.ts';
import { configFile } from './schema.ts';

export interface ReadFileOptions {
  /** How messages call the file. */
  readonly path: string;
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For what `${file:/path}` names. */
  readonly readText: ReadText;
  /** Ids of the adapters that there are; absent: not checked. */
  readonly adapterIds?: readonly string[] | undefined;
  /** What may stand under `options` of a provider, by the id of its adapter; one that is missing here has none. */
  readonly adapterOptions?: Readonly<Record<string, AdapterOptions>> | undefined;
  /** Slugs of providers that need no entry; absent: an endpoint's provider is not checked. */
  readonly providerIds?: readonly string[] | undefined;
  /** What an adapter finds wrong in an entry that is otherwise good; absent: not checked. */
  readonly checkProvider?: ((entry: ProviderConfig) => ProviderProblem | undefined) | undefined;
  /** Wins over the file. */
  readonly memoryLimitMb?: number | undefined;
}

/** What is wrong with a provider's settings. */
export interface ProviderProblem {
  /** Of its entry; empty: something beside it, such as a variable that is not set. */
  readonly path: Path;
  readonly message: string;
}

/** Configuration is written by hand: more than this is the wrong file. */
const FILE_CHARS_MAX = 8_388_608;

/** @throws ConfigError for the first thing wrong by line, with the number of further ones; its `problems` are all of them */
export function readConfigFile(options: ReadFileOptions): FileConfig & Pick<Config, 'origins'> {
  if (options.text.length > FILE_CHARS_MAX) throw new ConfigError(`${options.path}: is too large for a configuration`);
  const document = readDocument(options.text, options.env, options.readText, {
    mustBeJson: options.path.toLowerCase().endsWith('.json'),
  });
  if (document.problems.length > 0) throw configError(options.path, document.problems);
  const value = document.value ?? {};
  const file = validate(configFile, value, document, []);
  const entries = readModels(value, document);
  const providerOptions = readOptions(value, options.adapterOptions, document);
  const problems = [
    ...file.problems,
    ...entries.problems,
    ...providerOptions.problems,
    ...providerProblems(value, options, document),
    ...adapterProblems(value, options, document),
    ...settingProblems(value, providerOptions.options, options, document),
    ...safetyProblems(value, document),
  ];
  if (file.value === undefined || problems.length > 0) throw configError(options.path, problems);
  return {
    ...fileConfig(file.value, entries.models, entries.passThrough, providerOptions.options, options.memoryLimitMb),
    origins: originsOf(value, document, options.path),
  };
}

interface ModelEntries {
  readonly models: readonly ModelConfig[];
  readonly passThrough: readonly PassThroughConfig[];
  readonly problems: readonly Problem[];
}

function readModels(value: unknown, document: ConfigDocument): ModelEntries {
  const models: ModelConfig[] = [];
  const passThrough: PassThroughConfig[] = [];
  const problems: Problem[] = [];
  for (const [key, entry] of membersOf(value, 'models')) {
    const path = ['models', key];
    if (isPassThroughKey(key)) {
      const checked = validate(passThroughEntry, entry, document, path);
      problems.push(...checked.problems);
      if (checked.value !== undefined) passThrough.push(passThroughOf(key, checked.value));
    } else if (isModelSlug(key)) {
      const checked = validate(modelEntry, entry, document, path);
      problems.push(...checked.problems);
      if (checked.value !== undefined) models.push(modelOf(key, checked.value));
    } else problems.push(problem(document, path, 'must be a model slug such as acme/one, or acme/*'));
  }
  return { models, passThrough, problems };
}

function membersOf(value: unknown, section: string): readonly [string, unknown][] {
  const members = valueAt(value, [section]);
  return isContainer(members) && !Array.isArray(members) ? Object.entries(members) : [];
}

function configError(file: string, problems: readonly Problem[]): ConfigError {
  const [first, ...others] = problems
    .toSorted((left, right) => left.line - right.line)
    .map(
      ({ line, column, path, message }) =>
        `${place(file, line, column)}: ${path.length === 0 ? '' : `${formatPath(path)}: `}${message}`,
    );
  if (first === undefined) return new ConfigError(`${file}: cannot be read`);
  const more =
    others.length === 0
      ? ''
      : `\n(and ${others.length} more ${others.length === 1 ? 'problem; "config check" lists it' : 'problems; "config check" lists them'})`;
  return new ConfigError(first + more, { problems: [first, ...others] });
}

function place(file: string, line: number, column: number | undefined): string {
  return column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
}

/** Looks at the plain data, so that one wrong price does not hide a wrong name above it. */
function providerProblems(value: unknown, options: ReadFileOptions, document: ConfigDocument): Problem[] {
  if (options.providerIds === undefined) return [];
  const known = [...membersOf(value, 'providers').map(([slug]) => slug), ...options.providerIds];
  const problems: Problem[] = [];
  const check = (path: Path): void => {
    const name = valueAt(value, path);
    if (typeof name !== 'string' || known.includes(name)) return;
    problems.push(problem(document, path, unknownName('provider', name, known)));
  };
  for (const [slug] of membersOf(value, 'beta_flags'))
    if (!known.includes(slug))
      problems.push(problem(document, ['beta_flags', slug], unknownName('provider', slug, known)));
  for (const [key, entry] of membersOf(value, 'models')) {
    check(['models', key, 'provider']);
    const endpoints = valueAt(entry, ['endpoints']);
    if (!Array.isArray(endpoints)) continue;
    for (const index of endpoints.keys()) check(['models', key, 'endpoints', index, 'provider']);
  }
  return problems;
}

function adapterProblems(value: unknown, options: ReadFileOptions, document: ConfigDocument): Problem[] {
  const problems: Problem[] = [];
  const known = options.adapterIds;
  if (known === undefined) return [];
  for (const [slug, entry] of membersOf(value, 'providers')) {
    const path = ['providers', slug];
    const adapter = valueAt(entry, ['adapter']);
    // Where it is misspelt, that is said already.
    const isMisspelt =
      isContainer(entry) && Object.keys(entry).some((name) => nearestName(name, ['adapter']) !== undefined);
    if (adapter === undefined && !known.includes(slug) && !isMisspelt)
      problems.push(problem(document, path, `adapter is required: "${slug}" is no known provider`));
    if (typeof adapter === 'string' && !known.includes(adapter))
      problems.push(problem(document, [...path, 'adapter'], unknownName('adapter', adapter, known)));
  }
  return problems;
}

/** Of each provider whose entry is good by itself, whatever else is wrong in the file. */
function settingProblems(
  value: unknown,
  providerOptions: ReadonlyMap<string, CheckedOptions>,
  { checkProvider, adapterIds }: ReadFileOptions,
  document: ConfigDocument,
): Problem[] {
  if (checkProvider === undefined) return [];
  return membersOf(value, 'providers').flatMap(([slug, given]) => {
    const path = ['providers', slug];
    const entry = validate(provider, given ?? {}, document, path).value;
    const hasGoodOptions = isEmpty(valueAt(given, ['options'])) || providerOptions.has(slug);
    if (entry === undefined || !hasGoodOptions || adapterIds?.includes(entry.adapter ?? slug) === false) return [];
    const found = checkProvider(providerOf(slug, entry, providerOptions.get(slug)));
    return found === undefined ? [] : [problem(document, [...path, ...found.path], found.message)];
  });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null;
}
