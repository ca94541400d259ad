import { DatabaseError } from 'pg';
import { permanentFault, type DatabaseFault } from '../database-error.ts';

/** Classes of SQLSTATE after which the same statement may work later. @source postgresql.org/docs/current/errcodes-appendix.html, read 2026-11 */
const TRANSIENT_CLASSES: ReadonlySet<string> = new Set([
  '08', // connection exceptions
  '28', // a password that is being changed: what waits for the operator is kept meanwhile
  '40', // serialization failure, deadlock
  '53', // no room, no memory, too many connections
  '55', // a lock that another holds
  '57', // shut down, starting up, cancelled by a time limit
  '58', // an error of the disk
]);
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  '25006', // read only: it was the primary until a moment ago
  '3D000', // the database is being restored
  '42501', // rights that an operator took away
  'XX001', // corrupted: until a backup is put in its place
  'XX002', // an index of it
]);
const UNIQUE_VIOLATION = '23505';
/** Messages of this class repeat the refused value. */
const DATA_EXCEPTION = '22';
/** The server ended the session: it shut down, crashed, or dropped it. */
const SESSION_END = /^(?:08|57P)/;

export interface PostgresFault extends DatabaseFault {
  /** The connection cannot be used any more. */
  readonly sessionLost: boolean;
}

/**
 * Classifies what `pg` throws. An error without a SQLSTATE happened on the way to the server, unless it is a bug of
 * ours.
 */
export function classifyFault(error: unknown): PostgresFault {
  if (error instanceof DatabaseError) return classifyAnswer(error.code ?? '', error.message);
  if (!(error instanceof Error)) return { ...permanentFault(String(error)), sessionLost: true };
  const isBug = error instanceof TypeError || error instanceof RangeError;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // Where both addresses of a name refuse, the error has no message.
  const reason = error.message === '' ? (code ?? 'no reason given') : error.message;
  const message = isBug ? reason : `PostgreSQL cannot be reached: ${reason}`;
  return { message, transient: !isBug, duplicate: false, sessionLost: true };
}

function classifyAnswer(code: string, message: string): PostgresFault {
  const kind = code.slice(0, 2);
  return {
    message: kind === DATA_EXCEPTION ? `The database refused a value (SQLSTATE ${code}).` : message,
    transient: TRANSIENT_CLASSES.has(kind) || TRANSIENT_CODES.has(code),
    duplicate: code === UNIQUE_VIOLATION,
    sessionLost: SESSION_END.test(code),
  };
}
