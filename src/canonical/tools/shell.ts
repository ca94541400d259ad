import { createHash } from 'node:crypto';

/** The caller of a shell, whose containers no other workspace reaches. */
export interface ShellOwner {
  readonly accountId: string;
  readonly workspaceId: string;
  /** The key that calls. */
  readonly keyHash?: string;
}

/** Command lines for one container, one after the other. */
export interface ShellCall {
  readonly owner: ShellOwner;
  /** 1 to 20 letters, digits, `_` and `-`. One that is not there is made. */
  readonly containerId: string;
  readonly commands: readonly string[];
  /** Forget exported variables and the working directory first. */
  readonly restart: boolean;
  /** Of each command, ms. Absent: the configured limit, which it may only lower. */
  readonly timeoutMs?: number | undefined;
  /** Of each stream, bytes. */
  readonly outputBytes?: number | undefined;
  readonly signal: AbortSignal;
}

export interface ShellOutput {
  readonly command: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Null: it was ended at a limit of time. */
  readonly exitCode: number | null;
  /** The limit at which it was ended. */
  readonly stopped?: 'timeout' | 'output' | 'disk' | 'aborted';
}

/** A file that commands have made, by its id among those of its container. */
export interface ShellFile {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
}

/** Runs command lines apart from everything else of the machine. */
export interface Shell {
  /** @throws ShellError when nothing was run */
  run(call: ShellCall): Promise<readonly ShellOutput[]>;
  /** Files below `outputs` of the home that were made or changed since a time, Unix ms. */
  outputs?(call: Pick<ShellCall, 'owner' | 'containerId'>, sinceMs: number): Promise<readonly ShellFile[]>;
}

/** A shell whose containers end with what they are for. */
export interface KeptShell extends Shell {
  /** With its files. One that there is not is no error. */
  removeContainer(owner: ShellOwner, id: string): Promise<void>;
}

/** Nothing was run. The message is safe to show to a model. */
export class ShellError extends Error {
  readonly code: 'unavailable' | 'too_many_requests';

  constructor(code: ShellError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ShellError';
    this.code = code;
  }
}

const ID_CHARS_MAX = 20;
const SESSION_CHARS_MAX = 15;
const HASH_CHARS = 16;
const SHORT_HASH_CHARS = 6;

/** What names a container: its own id, a session, or the beginning of a conversation. @spec container-5 */
export interface ContainerNaming {
  readonly containerId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly promptCacheKey?: string | undefined;
  readonly keyHash: string;
  /** The first turn of the user. */
  readonly opening: string;
}

/** The id of the container of a call. */
export function containerIdOf(naming: ContainerNaming): string {
  const { containerId, sessionId, promptCacheKey, keyHash, opening } = naming;
  if (containerId !== undefined) return containerId;
  const session = [sessionId, promptCacheKey].find((name) => name !== undefined && /^[\w-]+$/.test(name));
  if (session === undefined) return `gen_${digest(`${keyHash}\n${opening}`).slice(0, HASH_CHARS)}`;
  if (session.length <= SESSION_CHARS_MAX) return `sess_${session}`;
  // What is cut ends in a hash of the whole: two long names with one beginning are two containers.
  const start = session.slice(0, SESSION_CHARS_MAX - SHORT_HASH_CHARS);
  return `sess_${start}${digest(session).slice(0, SHORT_HASH_CHARS)}`.slice(0, ID_CHARS_MAX);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
