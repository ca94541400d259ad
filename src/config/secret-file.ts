import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ConfigError } from './config-error.ts';

/** Reads a text file, or throws as `fs.readFileSync` does. */
export type ReadText = (path: string) => string;

export function readText(path: string): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A service account is 3 kB; whatever is longer is another file. */
const SECRET_CHARS_MAX = 65_536;

/**
 * The text of a file that holds one secret, without the line break at its end.
 * @throws Error whose message says what is wrong, and nothing of what the file holds
 */
export function readSecretFile(path: string, read: ReadText): string {
  if (!isAbsolute(path)) throw new Error(`the path ${JSON.stringify(path)} is not absolute`);
  let text: string;
  try {
    text = read(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Error(code === 'ENOENT' ? `there is no file ${path}` : `the file ${path} cannot be read (${code})`, {
      cause: error,
    });
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw new Error(`the file ${path} is empty`);
  if (secret.length > SECRET_CHARS_MAX) throw new Error(`the file ${path} is too large for a secret`);
  return secret;
}

/**
 * The value of `NAME`, or what stands in the file that `NAME_FILE` names. A child process can read the environment of
 * the gateway where it runs as the same user; a file may be closed to it.
 * @throws ConfigError when both are set, or the file cannot be read
 */
export function readSecretVariable(env: Environment, name: string, read: ReadText = readText): string | undefined {
  // An empty variable is how compose files and shells say "not set".
  const [value, path] = [env[name] || undefined, env[`${name}_FILE`] || undefined];
  if (path === undefined) return value;
  if (value !== undefined) throw new ConfigError(`${name}_FILE: must not be set together with ${name}`);
  try {
    return readSecretFile(path, read);
  } catch (error) {
    throw new ConfigError(`${name}_FILE: ${error instanceof Error ? error.message : 'cannot be read'}`, {
      cause: error,
    });
  }
}
