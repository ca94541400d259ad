/** What a command may touch of the process. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream;
}

export interface Command {
  /** One line of the overview. */
  readonly summary: string;
  /** What `--help` prints, complete with its line ends. Absent: the command takes `--help` itself. */
  readonly help?: string;
  /**
   * @param args the command line after the command's name
   * @returns the exit code: 0 done, 1 failed, 2 wrongly called, 130 interrupted
   */
  run(args: readonly string[], io: Io): Promise<number>;
}

/** The command line is invalid. The message is printable; exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The command cannot be completed. The message is printable; exit code 1. */
export class CommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
  }
}
