import { ConfigError } from './config-error.ts';
import type { ModelConfig, PassThroughConfig } from './config.ts';
import { drawPath, readDocument } from './document.ts';
import type { ConfigDocument, Path, Problem } from './document.ts';
import { fileConfig, modelOf, passThroughOf } from './file-config.ts';
import type { FileConfig } from './file-config.ts';
import { isContainer, problem, unknownName, valueAt } from './problems.ts';
import { readOptions, type AdapterOptions } from './read-options.ts';
import { validate } from './validate.ts';
import { configFile, isModelSlug, isPassThroughKey, modelEntry, passThroughEntry } from './schema.ts';
import type { ConfigFile } from './schema.ts';

export interface ReadFileOptions {
  /** How messages call the file. */
  readonly path: string;
  readonly text: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ids of the adapters that there are; absent: not checked. */
  readonly adapterIds?: readonly string[] | undefined;
  /** What may stand under `options` of a provider, by the id of its adapter; one that is missing here has none. */
  readonly adapterOptions?: Readonly<Record<string, AdapterOptions>> | undefined;
  /** Slugs of providers that need no entry; absent: an endpoint's provider is not checked. */
  readonly providerIds?: readonly string[] | undefined;
}

/** Configuration is written by hand: more than this is the wrong file. */
const FILE_CHARS_MAX = 8_388_608;

/** @throws ConfigError for the first thing wrong by line, with the number of further ones */
export function readConfigFile(options: ReadFileOptions): FileConfig {
  if (options.text.length > FILE_CHARS_MAX) throw new ConfigError(`${options.path}: is too large for a configuration`);
  const document = readDocument(options.text, options.env);
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
    ...(file.value === undefined ? [] : adapterProblems(file.value, options, document)),
  ];
  if (file.value === undefined || problems.length > 0) throw configError(options.path, problems);
  return fileConfig(file.value, entries.models, entries.passThrough, providerOptions.options);
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
  const [first, ...others] = problems.toSorted((left, right) => left.line - right.line);
  if (first === undefined) return new ConfigError(`${file}: cannot be read`);
  const path = drawPath(first.path);
  const more =
    others.length === 0 ? '' : `\n(and ${others.length} more ${others.length === 1 ? 'problem' : 'problems'})`;
  return new ConfigError(`${file}:${first.line}: ${path === '' ? '' : `${path}: `}${first.message}${more}`);
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

function adapterProblems(file: ConfigFile, options: ReadFileOptions, document: ConfigDocument): Problem[] {
  const problems: Problem[] = [];
  for (const [slug, entry] of Object.entries(file.providers)) {
    const path = ['providers', slug];
    const known = options.adapterIds;
    if (entry.adapter === undefined && known?.includes(slug) === false)
      problems.push(problem(document, path, `adapter is required: "${slug}" is no known provider`));
    if (entry.adapter !== undefined && known !== undefined && !known.includes(entry.adapter))
      problems.push(problem(document, [...path, 'adapter'], unknownName('adapter', entry.adapter, known)));
  }
  return problems;
}
