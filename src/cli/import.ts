import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { knownSlugs } from '../catalog/known-slugs.ts';
import { ConfigError } from '../config/config-error.ts';
import { parseFlags } from '../config/flags.ts';
import { formatYaml, parseYaml } from '../config/yaml-text.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { keyVariablesOf } from '../providers/build-provider.ts';
import { ADAPTER_IDS, ADAPTERS } from '../providers/index.ts';
import { nearestName } from '../lib/text/nearest-name.ts';
import { CommandError, UsageError } from './command.ts';
import type { Io } from './command.ts';
import { importLitellm, type Imported } from './import/litellm.ts';
import { formatNotes } from './import/notes.ts';
import { variablesOf } from './import/values.ts';
import { loadCheckedConfig } from './load-config.ts';

const SOURCES = ['litellm'] as const;
/** Of a configuration: far more than any has. */
const FILE_BYTES_MAX = 16 * 1_024 * 1_024;
/** It may hold keys that stood in the other file. */
const OWNER_ONLY = 0o600;

/** `model-gateway import litellm config.yaml`: our file to standard output, what is not in it to standard error. */
export function runImport(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, { output: { type: 'string' } });
  const [source, file, ...more] = words;
  checkSource(source);
  if (file === undefined) throw new UsageError(`import ${source ?? ''}: name the file`);
  if (more.length > 0) throw new UsageError(`import ${source ?? ''}: takes one file`);
  const imported = importLitellm(readFile(file), knownSlugs());
  const text = formatFile(path.basename(file), imported);
  if (values.output === undefined) io.stdout.write(text);
  else writeNew(values.output, text);
  const { models = {}, providers = {} } = imported.config;
  io.stderr.write(
    `${file}: ${count(models, 'model')} and ${count(providers, 'provider')}.\n${formatNotes(imported.notes)}${formatNextStep(imported, text, values.output)}`,
  );
  return Promise.resolve(0);
}

function checkSource(source: string | undefined): void {
  if (source === undefined) throw new UsageError(`import: say of what: ${SOURCES.join(', ')}`);
  if (SOURCES.some((known) => known === source)) return;
  const nearest = nearestName(source, SOURCES);
  throw new UsageError(
    `import ${source}: unknown; ${nearest === undefined ? `known are ${SOURCES.join(', ')}` : `did you mean "${nearest}"?`}`,
  );
}

function readFile(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file}: cannot be read`, { cause });
  }
  if (text.length > FILE_BYTES_MAX) throw new CommandError(`${file}: is larger than 16 MB, so it is no configuration`);
  const { value, problem } = parseYaml(text);
  if (problem !== undefined) throw new CommandError(`${file}:${problem.line}: this is not YAML: ${problem.message}`);
  if (isJsonObject(value) && Array.isArray(value['model_list'])) return value;
  throw new CommandError(`${file}: has no model_list, so it is no configuration of a LiteLLM proxy`);
}

function formatFile(name: string, { config, notes }: Imported): string {
  const lines = formatNotes(notes.filter(({ kind }) => kind === 'lost')).trimEnd();
  const comments = `# From ${name}, by "model-gateway import litellm".\n${lines === '' ? '' : `${lines.replaceAll(/^/gm, '# ')}\n`}`;
  return `${comments}\n${formatYaml(config)}`;
}

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: OWNER_ONLY });
  } catch (cause) {
    const exists = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST';
    throw new CommandError(exists ? `${file}: exists already; name another file` : `${file}: cannot be written`, {
      cause,
    });
  }
}

function count(value: unknown, word: string): string {
  const size = isJsonObject(value) ? Object.keys(value).length : 0;
  return `${size} ${word}${size === 1 ? '' : 's'}`;
}

/** The file is checked at once, as a start would, with something in the place of each variable. */
function formatNextStep({ config }: Imported, text: string, output: string | undefined): string {
  const named = new Set(variablesOf(config));
  const problems = problemsOf(text, [...named]);
  const variables = [...named.union(new Set(keyVariables(config)))];
  if (problems.length > 0)
    return `The file needs your hand before it starts:\n${problems.map((one) => `  ${one}\n`).join('')}`;
  const needs = variables.length === 0 ? '' : ` It needs ${variables.join(', ')} in the environment.`;
  return `The file is complete.${needs} Check it with "model-gateway config check --config ${output ?? 'FILE'}", and the providers with "model-gateway doctor --config ${output ?? 'FILE'}".\n`;
}

/** Those in which providers without a key of their own find theirs. */
function keyVariables({ providers }: JsonObject): readonly string[] {
  if (!isJsonObject(providers)) return [];
  return Object.entries(providers).flatMap(([slug, entry]) => {
    if (!isJsonObject(entry) || entry['api_key'] !== undefined || entry['base_url'] !== undefined) return [];
    const id = ADAPTER_IDS.find((one) => one === (entry['adapter'] ?? slug));
    return id === undefined ? [] : keyVariablesOf(ADAPTERS[id]).slice(0, 1);
  });
}

/** By its name, since nothing but its value says what a variable holds. */
function placeholderOf(name: string): string {
  if (name.includes('REDIS_URL')) return 'redis://127.0.0.1';
  if (name.endsWith('PORT')) return '1';
  if (name.includes('REGION')) return 'us-east-1';
  return name.endsWith('HOST') ? '127.0.0.1' : /URL|BASE|ENDPOINT|URI/.test(name) ? 'http://127.0.0.1' : 'placeholder';
}

function problemsOf(text: string, variables: readonly string[]): readonly string[] {
  const env = Object.fromEntries(variables.map((name) => [name, placeholderOf(name)]));
  try {
    loadCheckedConfig(['--config', 'gateway.yaml'], env, () => text);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.length > 0 ? error.problems : [error.message];
    if (error instanceof CommandError) return [error.message];
    throw error;
  }
}
