import { CommandError } from './command.ts';

/** What an operator can mend becomes one sentence; a fault of ours keeps its stack. */
export function asOperatorError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // A failing system call has a code. The store says in one sentence of a plain `Error` why it cannot open its file.
  const isOperators = codeOf(error) !== undefined || error.message.startsWith('Cannot open the database');
  return isOperators ? new CommandError(error.message, { cause: error }) : error;
}

/** `EADDRINUSE` and the like. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
