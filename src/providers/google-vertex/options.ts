import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SettingError, type ClipBucket, type ConnectionSetup } from '../contract.ts';

const PROJECT = /^[a-z0-9][a-z0-9.:-]*$/i;
/** cloud.google.com "About Cloud Storage buckets", naming rules, read 2026-11. */
const BUCKET = /^gs:\/\/[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](?:\/[\w.-]+)*\/?$/;
const LOCATION = /^[a-z][a-z0-9-]*$/;
const NOT_A_PROJECT = 'must be the id of a project, such as my-project-123';
const NOT_A_LOCATION = 'must be a location such as europe-west1, eu or global';

export const vertexOptions = z.strictObject({
  project: z.string().regex(PROJECT, NOT_A_PROJECT).optional(),
  location: z.string().regex(LOCATION, NOT_A_LOCATION).optional(),
  /** Path of a JSON file: a service account's key, workload identity, or what `gcloud` wrote. */
  credentials_file: z.string().min(1).optional(),
  /** The text of such a file. */
  credentials: z.string().min(1).optional(),
  /** Callers may name files of storage, which are opened with the rights of this identity. */
  storage_uris: z.boolean().optional(),
  /** Where Veo writes its clips, with the rights of this identity. Absent: they stand in its answers. */
  clip_bucket: z.string().regex(BUCKET, 'must be a bucket and perhaps a folder, such as gs://clips/veo').optional(),
  /** Of Cloud Storage, where it has an address of its own in the operator's network. */
  storage_base_url: z.url({ protocol: /^https?$/ }).optional(),
});

/** Google's own name of the place that is nowhere in particular. */
const DEFAULT_LOCATION = 'global';

export interface VertexSettings {
  readonly project: string;
  readonly location: string;
  /** What a credentials file holds; absent: application-default credentials. */
  readonly credentials?: Readonly<Record<string, unknown>>;
  readonly clipBucket?: ClipBucket;
}

const STORAGE_BASE_URL = 'https://storage.googleapis.com';

/** The project and its credential, from the entry, the environment and the credential itself. @throws SettingError */
export function readVertexSettings({ options, env }: ConnectionSetup): VertexSettings {
  const {
    project,
    location,
    credentials_file: file,
    credentials: text,
    clip_bucket: bucket,
    storage_base_url: storage,
  } = vertexOptions.parse(options);
  if (file !== undefined && text !== undefined)
    throw new SettingError('options.credentials', 'stands beside credentials_file; one of them must go');
  const credentials =
    file !== undefined
      ? parseCredentials('options.credentials_file', readCredentials(file))
      : text === undefined
        ? undefined
        : parseCredentials('options.credentials', text);
  const ofCredentials = credentials?.['project_id'];
  const found =
    project ??
    (typeof ofCredentials === 'string' ? ofCredentials : undefined) ??
    fromEnvironment(env, ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_CLOUD_PROJECT'], PROJECT, NOT_A_PROJECT);
  if (found === undefined)
    throw new SettingError('options.project', 'is required, or GOOGLE_CLOUD_PROJECT in the environment');
  return {
    project: found,
    location:
      location ??
      fromEnvironment(env, ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'], LOCATION, NOT_A_LOCATION) ??
      DEFAULT_LOCATION,
    ...(credentials !== undefined && { credentials }),
    ...(bucket !== undefined && {
      clipBucket: { uri: bucket.replace(/\/$/, ''), baseUrl: (storage ?? STORAGE_BASE_URL).replace(/\/+$/, '') },
    }),
  };
}

/** The first of these variables that is set. It becomes part of an address. @throws SettingError */
function fromEnvironment(
  env: ConnectionSetup['env'],
  names: readonly string[],
  shape: RegExp,
  problem: string,
): string | undefined {
  for (const name of names) {
    const value = nonEmpty(env[name]);
    if (value === undefined) continue;
    if (!shape.test(value)) throw new SettingError(name, problem);
    return value;
  }
  return undefined;
}

/** Such a key has neither a place nor a project of its own choice. @throws SettingError */
export function refuseBesideKey({ options }: ConnectionSetup): void {
  const [given] = Object.keys(options).filter((name) => name !== 'storage_uris' && options[name] !== undefined);
  if (given !== undefined)
    throw new SettingError(`options.${given}`, 'stands beside api_key or GOOGLE_VERTEX_API_KEY; one of them must go');
}

function readCredentials(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new SettingError('options.credentials_file', `${path} cannot be read (${code})`, { cause: error });
  }
}

/** Says nothing of the text: it is a private key. */
function parseCredentials(member: string, text: string): Readonly<Record<string, unknown>> {
  const parsed = parseRecord(text);
  if (parsed === undefined || typeof parsed['type'] !== 'string' || !isComplete(parsed))
    throw new SettingError(member, 'is no credentials file: JSON with "type", and of a service account its key');
  if (parsed['type'] === 'service_account' && !isPrivateKey(parsed['private_key']))
    throw new SettingError(member, 'has a "private_key" that is none; are its line breaks written as \\n, once?');
  return parsed;
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    // The parser's message quotes the text.
    return undefined;
  }
}

function isComplete(credentials: Readonly<Record<string, unknown>>): boolean {
  if (credentials['type'] !== 'service_account') return true;
  return typeof credentials['client_email'] === 'string' && typeof credentials['private_key'] === 'string';
}

/** Checked here, so that a damaged key is reported at start and not by every call. */
function isPrivateKey(text: unknown): boolean {
  try {
    return createPrivateKey(String(text)).type === 'private';
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}
