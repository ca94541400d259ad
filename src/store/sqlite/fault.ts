import { permanentFault, type DatabaseFault } from '../database-error.ts';

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
/** Extended codes: CONSTRAINT_PRIMARYKEY and CONSTRAINT_UNIQUE. */
const DUPLICATE_CODES: ReadonlySet<number> = new Set([1_555, 2_067]);

/** Reads what `node:sqlite` throws: `errcode` is the extended code, its low byte the primary one. */
export function readFault(error: unknown): DatabaseFault {
  if (!(error instanceof Error)) return permanentFault(String(error));
  const code = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
  return { message: error.message, transient: TRANSIENT_CODES.has(code & 0xff), duplicate: DUPLICATE_CODES.has(code) };
}
