import path from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Folders that npm puts before all others for a script (`npm start`, `npm exec`): the project's own programs, and a helper. */
const OF_NPM = /[\\/]node_modules[\\/]\.bin[\\/]*$|[\\/]node-gyp-bin[\\/]*$/;

/**
 * What a server's process takes over: PATH and HOME, as they were before npm. With its folders in PATH a server that is
 * started by `npx` would run on the project's pinned Node, below which npm then looks for its global configuration
 * (`etc/npmrc` beside the `bin` of the running Node) and finds none: the registry and the proxy of the machine are lost.
 * @source docs.npmjs.com "npmrc", "Global config file", and "folders", "prefix Configuration", read 2026-11
 */
export function inheritedEnvironment(env: Environment): Readonly<Record<string, string>> {
  const { PATH, HOME } = env;
  return { ...(PATH !== undefined && { PATH: withoutNpm(PATH) }), ...(HOME !== undefined && { HOME }) };
}

function withoutNpm(text: string): string {
  const folders = text.split(path.delimiter).filter((folder) => !OF_NPM.test(folder));
  return folders.length === 0 ? text : folders.join(path.delimiter);
}

/** Lines of a server's standard error that are looked at for why it ended. */
export const LAST_LINES_MAX = 50;

const NPM_ERROR = /^npm (?:error|ERR!)\s+/;
/** What npm says of every failure, and where it wrote more. */
const STATES_NOTHING = /^(?:code\s|errno\s|syscall\s|path\s|A complete log of this run|$)/;
const NAMED_ERROR = /^\s*(?:\S*(?:Error|Exception)\b|(?:error|fatal|panic)\b)/i;

/** The line that says why a process ended: npm ends with where its log is, Node with its version. */
export function findCause(lines: readonly string[]): string | undefined {
  const npm = lines.filter((line) => NPM_ERROR.test(line)).map((line) => line.replace(NPM_ERROR, ''));
  const stated = npm.find((line) => !STATES_NOTHING.test(line));
  if (stated !== undefined) return `npm error ${stated}`;
  return lines.findLast((line) => NAMED_ERROR.test(line)) ?? lines.at(-1);
}
