/** What a driver's error means. The message names tables and columns, never values. */
export interface DatabaseFault {
  readonly message: string;
  /**
   * Whether the same statement may work later: the disk is full or broken, another transaction holds a lock, the server
   * is away. Otherwise the statement or its values are refused.
   */
  readonly transient: boolean;
  /** A row with the same unique value exists already. */
  readonly duplicate: boolean;
}

/**
 * A statement failed. The error does not hold the driver's error, which would hold values of rows, or an address with
 * its password.
 */
export class DatabaseError extends Error {
  readonly transient: boolean;
  readonly duplicate: boolean;

  constructor({ message, transient, duplicate }: DatabaseFault) {
    super(message);
    this.name = 'DatabaseError';
    this.transient = transient;
    this.duplicate = duplicate;
  }
}

/** A fault that another try will not mend. */
export function permanentFault(message: string): DatabaseFault {
  return { message, transient: false, duplicate: false };
}

/**
 * The file of the database was deleted or replaced under the process that has it open: what the process writes to it is
 * lost.
 */
export class DatabaseGoneError extends DatabaseError {
  constructor() {
    super({
      message: 'the file of the database was deleted or replaced while the gateway runs; put it back and restart',
      transient: true,
      duplicate: false,
    });
    this.name = 'DatabaseGoneError';
  }
}
