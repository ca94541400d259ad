import { DatabaseError } from '../store/engine/database-error.ts';
import { CommandError } from './command.ts';

/** A fault that an operator can repair becomes one sentence; a fault of ours keeps its stack. */
export function asOperatorError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // A failing system call has a code. The store says in one sentence of a plain `Error` why it cannot open its file.
  if (error instanceof DatabaseError)
    return new CommandError(`The database failed: ${error.message}${adviceFor(error.message)}`, { cause: error });
  const isOperators = codeOf(error) !== undefined || error.message.startsWith('Cannot open the database');
  return isOperators ? new CommandError(error.message + adviceFor(error.message), { cause: error }) : error;
}

/** What helps, where the database's own words do not say it. */
function adviceFor(message: string): string {
  if (/file is not a database|disk image is malformed/.test(message))
    return '. Put a backup in its place: model-gateway restore FILE.';
  if (/unable to open database file|readonly database/.test(message))
    return '. The gateway must be able to write to the file and its folder.';
  return '';
}

/** `EADDRINUSE` and the like. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
