import { permanentFault, type DatabaseFault } from '../database-error.ts';

/**
 * Primary result codes that are not the statement's fault: it may work later, if only because an operator has mended
 * the disk. All others refuse what was to be stored. @source sqlite.org/rescode.html, read 2026-11
 */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([
  5, // BUSY: another process writes
  6, // LOCKED
  7, // NOMEM
  8, // READONLY: a disk that was mounted again after an error, rights that were changed
  9, // INTERRUPT
  10, // IOERR
  11, // CORRUPT: until a backup is put in its place
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL
  26, // NOTADB: as CORRUPT
]);
/** Extended codes: CONSTRAINT_PRIMARYKEY and CONSTRAINT_UNIQUE. */
const DUPLICATE_CODES: ReadonlySet<number> = new Set([1_555, 2_067]);

/** BUSY and LOCKED: another connection holds the file. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error) & 0xff;
  return code === 5 || code === 6;
}

/** Classifies what `node:sqlite` throws: `errcode` is the extended code, its low byte the primary one. */
export function classifyFault(error: unknown): DatabaseFault {
  if (!(error instanceof Error)) return permanentFault(String(error));
  const code = codeOf(error);
  return { message: error.message, transient: TRANSIENT_CODES.has(code & 0xff), duplicate: DUPLICATE_CODES.has(code) };
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}
