// `npm run release -- VERSION`: writes the version and the changelog, packs, commits and tags, and leaves notes beside the
// archive. Nothing leaves the machine: the last lines say how. `--dry-run` packs and prints, and changes no file of the
// repository. docs/releases.md.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { formatNotes, isNewer, isVersion, releaseChangelog } from './release/notes.ts';

const ROOT = path.join(import.meta.dirname, '..');
const DIST = path.join(ROOT, 'dist');

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false }, 'allow-dirty': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const isDry = values['dry-run'];
const current = readManifest().version;
const version = positionals[0] ?? nextOf(current);
try {
  release();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function release(): void {
  check();
  const changelog = read('CHANGELOG.md');
  const notes = formatNotes(changelog, version);
  const released = releaseChangelog(changelog, version, new Date().toISOString().slice(0, 10));
  if (!isDry) {
    write('CHANGELOG.md', released);
    writeVersion();
  }
  run('npm', ['run', '--silent', 'package']);
  const packed = isDry ? current : version;
  const archive = path.join(DIST, `model-gateway-${packed}.tgz`);
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
  mkdirSync(DIST, { recursive: true });
  writeFileSync(path.join(DIST, `notes-${version}.md`), notes);
  writeFileSync(`${archive}.sha256`, `${digest}  ${path.basename(archive)}\n`);
  if (!isDry) {
    run('git', ['add', 'CHANGELOG.md', 'package.json', 'package-lock.json', 'deploy', 'docs']);
    run('git', ['commit', '--quiet', '--message', `release: ${version}`]);
    run('git', ['tag', '--annotate', '--cleanup=verbatim', `v${version}`, '--message', notes]);
  }
  say(`${isDry ? 'Would release' : 'Released'} ${version}, after ${current}.`);
  say(`  dist/${path.basename(archive)}, sha256 ${digest}`);
  say(`  dist/notes-${version}.md, ${notes.split('\n').filter((line) => line.startsWith('- ')).length} changes`);
  say(isDry ? 'Nothing was written but dist/. Without --dry-run:' : 'What is left:');
  if (isDry) say(`  commit "release: ${version}", tag v${version}`);
  say(
    `  git push --follow-tags\n  npm publish dist/package\n  docker build --file deploy/Dockerfile --tag model-gateway:${version} .`,
  );
}

function check(): void {
  if (!isVersion(version)) throw new Error(`${version}: is no version such as 0.2.0`);
  if (!isNewer(version, current))
    throw new Error(`${version}: is not newer than ${current}, the version of package.json`);
  if (ask('git', ['tag', '--list', `v${version}`]) !== '') throw new Error(`v${version}: there is such a tag already`);
  const changed = ask('git', ['status', '--porcelain']);
  if (changed !== '' && !values['allow-dirty'] && !isDry)
    throw new Error(`Commit first; these files differ from the last commit:\n${changed}`);
}

/** The next minor version: what a release of main is before 1.0. */
function nextOf(from: string): string {
  const [major = '0', minor = '0'] = from.split('.');
  return `${major}.${Number(minor) + 1}.0`;
}

function writeVersion(): void {
  for (const file of ['package.json', 'package-lock.json'])
    write(
      file,
      read(file).replaceAll(new RegExp(`("name": "model-gateway",\\s+"version": )"${current}"`, 'g'), `$1"${version}"`),
    );
  const chart = 'deploy/helm/model-gateway/Chart.yaml';
  write(chart, read(chart).replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  run('npm', ['run', '--silent', 'generate']);
}

function readManifest(): { readonly version: string } {
  return JSON.parse(read('package.json'));
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

function write(file: string, text: string): void {
  writeFileSync(path.join(ROOT, file), text);
}

function run(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${program} ${args.slice(0, 2).join(' ')} failed`);
}

function ask(program: string, args: readonly string[]): string {
  const { status, stdout } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.slice(0, 2).join(' ')} failed`);
  return stdout.trim();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
