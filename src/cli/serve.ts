import { unwatchFile, watchFile, type Stats } from 'node:fs';
import { createApp, type App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { CommandError } from './command.ts';
import type { Io } from './command.ts';
import { callableUrl, formatConsoleLink } from './console/console-link.ts';
import { loadCheckedConfig } from './load-config.ts';
import { asOperatorError, codeOf } from './operator-error.ts';
import type { FirstKeys } from '../accounts/keys/keys.ts';

/**
 * Two signals closer together than this are one: on Ctrl-C the terminal signals the whole process group, and npm passes
 * its own signal on to us besides.
 */
const ECHO_MS = 100;
const EXIT_INTERRUPTED = 130;
/**
 * Balancers notice within this time that the gateway is not ready any more; callers with a connection pool send their
 * next request, or find their idle connection closed. At a terminal there is no wait.
 */
const FAREWELL_MS = 1_000;

/**
 * `model-gateway serve`: runs until a signal stops it. The configuration is read again when its file changes, and on
 * SIGHUP; from a terminal that signal means that the window was closed, and stops the gateway like any other.
 */
export async function runServe(args: readonly string[], io: Io): Promise<number> {
  const { config } = loadCheckedConfig(args, io.env);
  const stop = waitForStop(io.stdin.isTTY === true ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT']);
  const app = await createApp({ config, env: io.env, findsLocalServers: true }).catch((error: unknown) => {
    throw asOperatorError(error);
  });
  const unwatch = reloadOnChange(app, config, args, io);
  try {
    const { url, firstKeys, consoleLink } = await app.listen();
    io.stdout.write(`Model Gateway listening on ${url}\n`);
    if (firstKeys !== undefined) io.stdout.write(formatFirstStart(url, firstKeys, consoleLink));
    await stop;
  } catch (error) {
    throw asListenError(error, config);
  } finally {
    unwatch();
    await app.close(io.stdin.isTTY === true ? 0 : FAREWELL_MS);
  }
  return 0;
}

/** An invalid file changes nothing. */
function reloadOnChange(app: App, { path }: Config, args: readonly string[], io: Io): () => void {
  const reload = (): void => {
    try {
      app.reload(loadCheckedConfig(args, io.env).config);
    } catch (error) {
      io.stderr.write(`The configuration stays as it was. ${error instanceof Error ? error.message : String(error)}\n`);
    }
  };
  const unwatch = path === undefined ? undefined : watchConfigFile(path, reload);
  if (io.stdin.isTTY !== true) process.on('SIGHUP', reload);
  return () => {
    unwatch?.();
    process.off('SIGHUP', reload);
  };
}

/** Settles at the first signal; a second one ends the process there and then. */
function waitForStop(signals: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (): void => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        resolve();
      } else if (performance.now() - firstAt > ECHO_MS) process.exit(EXIT_INTERRUPTED);
    };
    for (const signal of signals) process.on(signal, onSignal);
  });
}

function asListenError(error: unknown, config: Config): unknown {
  const { host, port } = config.server;
  switch (codeOf(error) ?? '') {
    case 'EADDRINUSE':
      return new CommandError(`Port ${port} on ${host} is taken. Choose another with --port.`, { cause: error });
    case 'EACCES':
      return new CommandError(
        `Port ${port} on ${host} needs more rights than this user has. Choose another with --port.`,
        {
          cause: error,
        },
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandError(`${host} is no address of this machine. Choose another with --host.`, { cause: error });
    default:
      return error;
  }
}

const FIRST_BODY = '{"model":"sandbox/echo","messages":[{"role":"user","content":"Hello, gateway!"}]}';

/** The output of the first start: both keys, a link to the dashboard, and one ready-to-run shell command. */
function formatFirstStart(url: string, { managementKey, apiKey }: FirstKeys, consoleLink: string | undefined): string {
  const dashboard =
    consoleLink === undefined
      ? ''
      : `
Open the dashboard with this link; it works once, within ten minutes ("model-gateway console link" prints another):
  ${formatConsoleLink(url, consoleLink)}
`;
  return `
This is the first start. Keep these two keys; they are not shown again.
  Management key: ${managementKey}
  API key:        ${apiKey}
${dashboard}
Try it:
curl -s ${callableUrl(url)}/v1/chat/completions -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${FIRST_BODY}'
`;
}

/** The longest delay for an operator. Polling the file's state works on every file system, and through a swapped link. */
const WATCH_EVERY_MS = 2_000;

/**
 * Calls back when the file was written, replaced or came into being; not when it vanished. Keeps no process alive.
 * @returns stops watching
 */
function watchConfigFile(path: string, onChange: () => void): () => void {
  const listener = (now: Stats, before: Stats): void => {
    const changed = now.mtimeMs !== before.mtimeMs || now.size !== before.size || now.ino !== before.ino;
    if (changed && now.ino !== 0) onChange();
  };
  watchFile(path, { persistent: false, interval: WATCH_EVERY_MS }, listener);
  return () => unwatchFile(path, listener);
}
