import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, readdir, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ContainerError } from './contract.ts';

const run = promisify(execFile);

/** What a shell of a model is expected to have. Those that the machine lacks are left out. */
const PROGRAMS = (
  'bash awk base64 basename bc bzip2 cat chmod cmp comm cp cut date dd diff dirname du echo env expr false file find fold git grep gunzip ' +
  'gzip head hexdump id jq join ln ls md5sum mkdir mktemp mv nl od paste patch printf pwd python3 readlink realpath rev rm rmdir sed seq ' +
  'sha256sum shuf sleep sort split stat strings tac tail tar tee test timeout touch tr true truncate uname uniq unzip wc which xargs xz yes zip'
).split(' ');
const FOLDERS = ['usr/bin', 'usr/lib', 'proc', 'dev', 'tmp', 'home/agent', 'etc', 'mnt', 'run', 'sys', 'var'];
/** On which podman mounts files of its own. */
const EMPTY_FILES = ['etc/hostname', 'etc/hosts', 'etc/passwd', 'etc/resolv.conf', 'run/.containerenv'];
const LINKS = { bin: 'usr/bin', lib: 'usr/lib', lib64: 'usr/lib64' } as const;
const PATH = ['/usr/local/bin', '/usr/bin', '/bin'];
const OUTPUT_BYTES_MAX = 1_048_576;

/**
 * Makes a root file system of programs of this machine, with the libraries that they need, and nothing else of it.
 * @returns the programs that it has
 * @throws ContainerError for a directory that is not empty
 */
export async function makeRootfs(directory: string): Promise<readonly string[]> {
  await mkdir(directory, { recursive: true });
  if ((await readdir(directory)).length > 0)
    throw new ContainerError('The directory is not empty: name one that is, or remove it.');
  for (const folder of [...FOLDERS, 'usr/lib64']) await mkdir(join(directory, folder), { recursive: true });
  for (const file of EMPTY_FILES) await writeFile(join(directory, file), '');
  for (const [name, target] of Object.entries(LINKS)) await symlink(target, join(directory, name));
  const copied: string[] = [];
  for (const name of PROGRAMS) {
    const program = await findProgram(name);
    if (program === undefined) continue;
    const file = await realpath(program);
    await copyFile(file, join(directory, 'usr/bin', name));
    await copyLibraries(file, directory);
    if (name === 'python3') await copyPython(file, directory);
    copied.push(name);
  }
  if (!copied.includes('bash')) throw new ContainerError('This machine has no bash to copy.');
  await symlink('bash', join(directory, 'usr/bin/sh'));
  return copied;
}

async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of PATH) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found?.isFile() === true) return join(folder, name);
  }
  return undefined;
}

/** A script, or a program without libraries, has none. */
async function copyLibraries(file: string, directory: string): Promise<void> {
  const { stdout } = await run('ldd', [file], { maxBuffer: OUTPUT_BYTES_MAX, env: { LC_ALL: 'C' } }).catch(() => ({
    stdout: '',
  }));
  for (const [library] of stdout.matchAll(/\/\S+/g)) {
    // `/lib` is below `/usr` there, wherever this machine has it.
    const target = join(directory, library.startsWith('/usr/') ? library : `/usr${library}`);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(await realpath(library), target).catch(() => undefined);
  }
}

/** Its standard library: nothing that was installed beside it. */
async function copyPython(file: string, directory: string): Promise<void> {
  const version = basename(file);
  const source = `/usr/lib/${version}`;
  if ((await stat(source).catch(() => undefined)) === undefined) return;
  await cp(source, join(directory, source), {
    recursive: true,
    dereference: true,
    filter: (path) => !/\/(?:test|__pycache__|dist-packages|idlelib|tkinter|ensurepip)(?:\/|$)/.test(path),
  });
  const modules = join(source, 'lib-dynload');
  for (const name of await readdir(modules).catch(() => [])) await copyLibraries(join(modules, name), directory);
}
