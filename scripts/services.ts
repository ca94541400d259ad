import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * `npm run services` starts a PostgreSQL and a Redis for the tests where none answers, and prints their addresses;
 * `npm run services -- stop` stops those that it started. From Debian's packages where they are installed, else by
 * compose. They keep nothing: for tests only. TEST_DATABASE_URL and TEST_REDIS_URL choose other ports of this machine.
 */

const POSTGRES_URL = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const REDIS_URL = process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const POSTGRES_PORT = new URL(POSTGRES_URL).port || '5432';
const REDIS_PORT = new URL(REDIS_URL).port || '6379';
/** Not in the project folder, which the server's user may not be able to read. */
const POSTGRES_DATA = `/tmp/model-gateway-postgres-${POSTGRES_PORT}`;
/** By which a Redis of ours is known from any other. */
const REDIS_PID_FILE = `/tmp/model-gateway-redis-${REDIS_PORT}.pid`;
const COMPOSE_FILE = fileURLToPath(new URL('services.compose.yaml', import.meta.url));
const CONNECT_MS = 1_000;
const START_MS = 30_000;

process.exit(process.argv[2] === 'stop' ? stop() : await start());

async function start(): Promise<number> {
  const services = [
    { name: 'PostgreSQL', port: POSTGRES_PORT, url: POSTGRES_URL, variable: 'TEST_DATABASE_URL', run: startPostgres },
    { name: 'Redis', port: REDIS_PORT, url: REDIS_URL, variable: 'TEST_REDIS_URL', run: startRedis },
  ] as const;
  let failures = 0;
  for (const { name, port, url, variable, run } of services) {
    const ran = await answers(port);
    const complaint = ran ? undefined : (run() ?? ((await comesUp(port)) ? undefined : 'it does not answer'));
    if (complaint === undefined)
      process.stdout.write(`${name} ${ran ? 'runs' : 'started'}: export ${variable}=${url}\n`);
    else process.stderr.write(`${name} could not be started: ${complaint}\n`);
    failures += complaint === undefined ? 0 : 1;
  }
  return failures === 0 ? 0 : 1;
}

function startPostgres(): string | undefined {
  const folder = postgresFolder();
  if (folder === undefined) return compose('up', '-d', 'postgres');
  if (!existsSync(POSTGRES_DATA)) {
    const made = asServerUser([join(folder, 'initdb'), '-D', POSTGRES_DATA, '-A', 'trust', '-U', 'postgres']);
    if (made !== undefined) return made;
  }
  const settings = `-p ${POSTGRES_PORT} -k ${POSTGRES_DATA} -c listen_addresses=127.0.0.1`;
  const log = join(POSTGRES_DATA, 'log');
  return asServerUser([join(folder, 'pg_ctl'), '-D', POSTGRES_DATA, '-o', settings, '-l', log, '-w', 'start']);
}

function startRedis(): string | undefined {
  const args = [
    '--port',
    REDIS_PORT,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--daemonize',
    'yes',
    '--pidfile',
    REDIS_PID_FILE,
  ];
  const started = spawnSync('redis-server', args, { encoding: 'utf8' });
  return started.error === undefined ? complaintOf(started) : compose('up', '-d', 'redis');
}

function compose(...command: readonly string[]): string | undefined {
  const env = { ...process.env, POSTGRES_PORT, REDIS_PORT };
  const done = spawnSync('docker', ['compose', '-f', COMPOSE_FILE, ...command], { encoding: 'utf8', env });
  if (done.error === undefined) return complaintOf(done);
  return 'install it (Debian: apt-get install postgresql redis-server) or docker with compose';
}

/** Other processes on these ports are left alone. */
function stop(): number {
  const folder = postgresFolder();
  const redis = (...args: readonly string[]) =>
    spawnSync('redis-cli', ['-p', REDIS_PORT, ...args], { encoding: 'utf8' });
  const requested = redis('config', 'get', 'pidfile');
  const isOurRedis = requested.error === undefined && requested.stdout.includes(REDIS_PID_FILE);
  const complaints = [
    folder !== undefined && existsSync(join(POSTGRES_DATA, 'postmaster.pid'))
      ? asServerUser([join(folder, 'pg_ctl'), '-D', POSTGRES_DATA, '-m', 'fast', 'stop'])
      : undefined,
    isOurRedis ? complaintOf(redis('shutdown', 'nosave')) : undefined,
    folder === undefined ? compose('down') : undefined,
  ].filter((complaint) => complaint !== undefined);
  for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
  return complaints.length === 0 ? 0 : 1;
}

/** Debian keeps the programs of each major version apart. */
function postgresFolder(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  return newest === undefined ? undefined : join(root, newest, 'bin');
}

function asServerUser(command: readonly string[]): string | undefined {
  const isRoot = userInfo().uid === 0;
  const [program = '', ...args] = isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command;
  return complaintOf(spawnSync(program, args, { encoding: 'utf8', cwd: '/tmp', stdio: ['ignore', 'ignore', 'pipe'] }));
}

function complaintOf({ error, status, stderr }: SpawnSyncReturns<string>): string | undefined {
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : stderr.trim();
}

function answers(port: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), timeout: CONNECT_MS });
    const end = (isThere: boolean) => () => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}

async function comesUp(port: string): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < START_MS; waitedMs += 100) {
    if (await answers(port)) return true;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  return false;
}
