import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../lib/files/make-folder.ts';
import { keepFromOthers } from '../../lib/files/owner-only.ts';
import { createSecretBox, newSecretText, secretFrom, type Secret, type SecretBox } from '../../lib/secret-box.ts';

/** The secrets that seal stored credentials. */
export interface Secrets {
  /** Returns a box with the secrets as they are now: a secret that another process made takes effect at once. */
  box(): Promise<SecretBox>;
  /**
   * Makes another secret the current one, and forgets secrets that no stored text needs.
   * @param usedIds the secrets that sealed what is stored
   * @returns false where the operator supplies the secret: only the operator can change it
   */
  renew(usedIds: readonly string[]): Promise<boolean>;
}

export interface SecretsDeps {
  /** `GATEWAY_SECRET`; absent: one is made once, in the data directory. */
  readonly secret?: string;
  /** `GATEWAY_SECRET_PREVIOUS`: it opens what it sealed, and seals nothing. */
  readonly previousSecret?: string;
  readonly dataDir: string;
}

/** The file holds one secret a line, the current one first. Only its owner may read it. */
const FILE = 'secret';
const ONLY_OWNER = 0o600;

export function createSecrets({ secret, previousSecret, dataDir }: SecretsDeps): Secrets {
  const path = join(dataDir, FILE);
  keepFromOthers(path);
  return {
    async box() {
      // Texts that the file's secret sealed still open after the operator supplies another one.
      const ofFile = secret === undefined ? await readOrMake(path) : [secret, ...((await readTexts(path)) ?? [])];
      const texts = previousSecret === undefined ? ofFile : [...ofFile, previousSecret];
      return boxOf(texts.map(secretFrom));
    },
    async renew(usedIds) {
      if (secret !== undefined) return false;
      const used = ((await readTexts(path)) ?? []).filter((text) => usedIds.includes(secretFrom(text).id));
      await replace(path, [newSecretText(), ...used]);
      return true;
    },
  };
}

function boxOf([current, ...older]: readonly Secret[]): SecretBox {
  if (current === undefined) throw new Error('There is no secret to seal with.');
  return createSecretBox([current, ...older]);
}

/**
 * Reads the secret, or makes one. Two processes that start at once must share one secret: the second reads the first
 * one's.
 * @throws Error for a file without a secret: texts that the lost one sealed may still need it
 */
async function readOrMake(path: string): Promise<readonly string[]> {
  const there = await readTexts(path);
  if (there !== undefined) return atLeastOne(there, path);
  await makeFolder(join(path, '..'));
  const texts = [newSecretText()];
  const next = await writeAside(path, texts);
  try {
    // Unlike a rename, a link never replaces an existing file.
    await link(next, path);
    return texts;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return atLeastOne((await readTexts(path)) ?? [], path);
  } finally {
    await rm(next, { force: true });
  }
}

function atLeastOne(texts: readonly string[], path: string): readonly string[] {
  if (texts.length === 0) throw new Error(`The file ${path} holds no secret.`);
  return texts;
}

/** Replaces the file, all or nothing: with a lost secret, everything that it sealed is lost. */
async function replace(path: string, texts: readonly string[]): Promise<void> {
  await rename(await writeAside(path, texts), path);
}

/** Writes a complete, synced file beside it: where the process is killed meanwhile, no process reads the rest. */
async function writeAside(path: string, texts: readonly string[]): Promise<string> {
  const next = `${path}.${randomUUID()}`;
  const file = await open(next, 'wx', ONLY_OWNER);
  try {
    await file.writeFile(texts.map((text) => `${text}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  return next;
}

/** `undefined`: there is no such file. */
async function readTexts(path: string): Promise<readonly string[] | undefined> {
  try {
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
