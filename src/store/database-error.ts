/** Primary result codes after which the same statement may work later. @source sqlite.org/rescode.html, read 2026-11 */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([
  5, // BUSY: another process writes
  6, // LOCKED
  7, // NOMEM
  9, // INTERRUPT
  10, // IOERR
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL
]);

/** What the database thread sends in place of an error, whose class does not survive the way between threads. */
export interface DatabaseFault {
  readonly message: string;
  /** Primary result code of SQLite; 0 for anything else. */
  readonly code: number;
}

/** A statement failed. The message names tables and columns, never values. */
export class DatabaseError extends Error {
  readonly code: number;
  /** Whether the same statement may work later: a full disk, a lock that another process holds. */
  readonly transient: boolean;

  constructor(fault: DatabaseFault, transient: boolean = isTransientCode(fault.code)) {
    super(fault.message);
    this.name = 'DatabaseError';
    this.code = fault.code;
    this.transient = transient;
  }
}

export function isTransientCode(code: number): boolean {
  return TRANSIENT_CODES.has(code);
}

/** Reads what `node:sqlite` throws: `errcode` is the extended code, its low byte the primary one. */
export function readFault(error: unknown): DatabaseFault {
  if (!(error instanceof Error)) return { message: String(error), code: 0 };
  const code = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
  return { message: error.message, code };
}
