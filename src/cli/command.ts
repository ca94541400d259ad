import { nearestName } from '../lib/text/nearest-name.ts';

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

/** What is wrong with the first word of a command that has several: there is none, or it is none of them. */
export function unknownVerb(command: string, word: string | undefined, verbs: readonly string[]): UsageError {
  if (word === undefined || word === '') return new UsageError(`${command}: say what to do: ${verbs.join(', ')}`);
  const nearest = nearestName(word, verbs);
  const hint = nearest === undefined ? `known are ${verbs.join(', ')}` : `did you mean "${nearest}"?`;
  return new UsageError(`${command} ${word}: unknown command; ${hint}`);
}

/** The command cannot be completed. The message is printable; exit code 1. */
export class CommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
  }
}
