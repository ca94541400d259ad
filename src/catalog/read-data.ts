import { readdirSync, readFileSync } from 'node:fs';
import type { AuthorFile, ProviderFile, ScoresFile, SourcesFile } from './data-schema.ts';

/** What the project itself knows of models and providers. */
export interface CatalogData {
  readonly authors: readonly AuthorFile[];
  readonly providers: readonly ProviderFile[];
  readonly scores: ScoresFile;
  readonly sources: SourcesFile;
}

/** A file of the catalog cannot be read. The message names it. */
class CatalogDataError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CatalogDataError';
  }
}

const FOLDER = new URL('data/', import.meta.url);

/**
 * Reads every file below `data/`. Their schema is held by `npm run catalog:check`: a second look at each start would take
 * longer than all else that the start does with them.
 * @throws CatalogDataError
 */
export function readCatalogData(): CatalogData {
  return {
    authors: readEach('authors', isAuthorFile),
    providers: readProviderData(),
    scores: readOne('scores.json', isScoresFile),
    sources: readOne('sources.json', isSourcesFile),
  };
}

/** The providers' files alone: the list of providers needs no more. */
export function readProviderData(): readonly ProviderFile[] {
  return readEach('providers', isProviderFile);
}

/** What tests say of models, by slug: those that this gateway does not serve, too. */
export function readScores(): ScoresFile {
  return readOne('scores.json', isScoresFile);
}

/** Every file unvalidated, for the check: by its path below `data/`. */
export function readRawCatalog(): ReadonlyMap<string, unknown> {
  const paths = [...listFolder('authors'), ...listFolder('providers'), 'scores.json', 'sources.json'];
  return new Map(paths.map((path) => [path, readOne(path, (value): value is unknown => value !== undefined)]));
}

function readEach<File>(folder: string, isFile: (value: unknown) => value is File): readonly File[] {
  return listFolder(folder).map((path) => readOne(path, isFile));
}

function listFolder(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, FOLDER))
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => `${folder}/${name}`);
}

function readOne<File>(path: string, isFile: (value: unknown) => value is File): File {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8'));
  } catch (cause) {
    throw new CatalogDataError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (!isFile(value)) throw new CatalogDataError(`${path}: is not such a file; npm run catalog:check says more`);
  return value;
}

function isAuthorFile(value: unknown): value is AuthorFile {
  return isObject(value) && 'author' in value && 'models' in value && Array.isArray(value.models);
}

function isProviderFile(value: unknown): value is ProviderFile {
  return isObject(value) && 'slug' in value && 'data_policy' in value && isObject(value.data_policy);
}

function isScoresFile(value: unknown): value is ScoresFile {
  return isObject(value) && Object.values(value).every(Array.isArray);
}

function isSourcesFile(value: unknown): value is SourcesFile {
  return isObject(value) && Object.values(value).every(isObject);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
