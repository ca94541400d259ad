/** What one command may use. */
export interface CommandLimits {
  readonly memoryBytes: number;
  /** Cores; fractions count. */
  readonly cpus: number;
  readonly processes: number;
  /** Of the home directory. */
  readonly diskBytes: number;
  readonly commandMs: number;
  /** Of each stream, as it is returned. */
  readonly outputBytes: number;
}

/** One command line in one container. */
export interface CommandRun {
  /** The container's home, a directory of the host that it owns alone. */
  readonly home: string;
  /** A directory that commands read as `/mnt`. Absent: it is empty. */
  readonly mnt?: string;
  readonly command: string;
  readonly limits: CommandLimits;
  /** Ends the command. */
  readonly signal: AbortSignal;
}

/** Why a command was ended before it ended by itself. */
export type CommandStop = 'timeout' | 'output' | 'disk' | 'aborted';

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  /** 137 for a process that was killed, such as for its memory. */
  readonly exitCode: number;
  /** Absent: it ended by itself. */
  readonly stopped?: CommandStop;
}

/** What runs commands apart from everything else of the machine. */
export interface ContainerRuntime {
  readonly name: string;
  /** What it enforces, in words. */
  readonly enforces: readonly string[];
  /** @throws ContainerError when nothing could be run */
  run(run: CommandRun): Promise<CommandResult>;
  /** Ends what a gateway that is gone has left. */
  clear(): Promise<void>;
}

/** A command was not run. The message says why, and what an operator can do, without a path of the host. */
export class ContainerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ContainerError';
  }
}

export interface ContainerSettings {
  /** Where homes are kept. */
  readonly directory: string;
  readonly limits: CommandLimits;
  /** Of all commands of a call. */
  readonly callMs: number;
  /** A home is removed after this time without a command. */
  readonly expiresMs: number;
}
