import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/*
 * Several gateways on one machine behind a plain TCP balancer: `npm run cluster -- --processes 3 --port 8787`, with
 * DATABASE_URL and REDIS_URL set. What follows `--` goes to each gateway. SIGHUP replaces them one after the other;
 * SIGTERM stops all. What a load balancer and a supervisor do in a real deployment (docs/deploy.md), to be read and run.
 */

const ENTRY = fileURLToPath(new URL('../src/main.ts', import.meta.url));

interface Gateway {
  readonly child: ChildProcess;
  readonly port: number;
}

const { values, positionals } = parseArgs({
  options: { processes: { type: 'string', default: '3' }, port: { type: 'string', default: '8787' } },
  allowPositionals: true,
});
for (const name of ['DATABASE_URL', 'REDIS_URL'] as const)
  if (process.env[name] === undefined)
    throw new Error(`${name} is not set: processes that share nothing are no cluster.`);

let gateways: readonly Gateway[] = [];
let next = 0;
let stopping = false;

/** One after the other: the first of them makes the keys of an empty database, and prints them. */
for (let index = 0; index < Number(values.processes); index++) gateways = [...gateways, await startGateway()];

const balancer = createServer({ noDelay: true, pauseOnConnect: true }, (caller) => forward(caller, gateways.length));
balancer.listen(Number(values.port), '127.0.0.1');
await once(balancer, 'listening');
const address = balancer.address();
const port = typeof address === 'object' && address !== null ? address.port : values.port;
process.stdout.write(`${gateways.length} gateways behind http://127.0.0.1:${port}\n`);

let restarting = Promise.resolve();
process.on('SIGHUP', () => {
  restarting = restarting.then(replaceAll);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());

async function startGateway(): Promise<Gateway> {
  const child = spawn(process.execPath, [ENTRY, ...positionals, '--host', '127.0.0.1', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const listening = Promise.withResolvers<number>();
  lines.on('line', (line) => {
    const found = /listening on http:\/\/127\.0\.0\.1:(\d+)$/.exec(line)?.[1];
    if (found !== undefined) listening.resolve(Number(found));
    process.stdout.write(`[${child.pid}] ${line}\n`);
  });
  child.once('exit', (code, signal) => {
    listening.reject(new Error(`A gateway ended before it listened (${signal ?? code}).`));
    if (stopping || !gateways.some((gateway) => gateway.child === child)) return;
    void succeed(child, signal ?? code);
  });
  return { child, port: await listening.promise };
}

/** One that died gets a successor. One that cannot start ends everything, loudly. */
async function succeed(dead: ChildProcess, reason: NodeJS.Signals | number | null): Promise<void> {
  process.stdout.write(`[${dead.pid}] ended (${reason}); another takes its place\n`);
  const gateway = await startGateway();
  gateways = gateways.map((one) => (one.child === dead ? gateway : one));
}

/** Bytes both ways; a gateway that does not take the connection is passed over. */
function forward(caller: Socket, tries: number): void {
  const gateway = gateways[next++ % gateways.length];
  if (gateway === undefined || tries === 0 || caller.destroyed) {
    caller.destroy();
    return;
  }
  const upstream = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  const passOver = (): void => forward(caller, tries - 1);
  upstream.once('error', passOver);
  upstream.once('connect', () => {
    upstream.off('error', passOver);
    upstream.on('error', () => caller.destroy());
    upstream.on('close', () => caller.destroy());
    caller.on('close', () => upstream.destroy());
    caller.pipe(upstream);
    upstream.pipe(caller);
  });
  caller.on('error', () => upstream.destroy());
}

/** A new process serves before an old one gets SIGTERM, so that there are never fewer. */
async function replaceAll(): Promise<void> {
  for (const old of gateways) {
    const fresh = await startGateway();
    gateways = gateways.map((one) => (one === old ? fresh : one));
    old.child.kill('SIGTERM');
    await once(old.child, 'exit');
  }
  process.stdout.write('all gateways were replaced\n');
}

async function stop(): Promise<void> {
  stopping = true;
  balancer.close();
  await Promise.all(
    gateways.map(async ({ child }) => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }),
  );
  process.exit(0);
}
