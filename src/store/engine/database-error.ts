/** What an engine makes of what its driver threw. The message names tables and columns, never values. */
export interface DatabaseFault {
  readonly message: string;
  /**
   * Whether the same statement may work later: a full disk or a broken one, a lock that another holds, a server that is
   * away. Otherwise it is the statement that is refused, or what it was to store.
   */
  readonly transient: boolean;
  /** A row with the same unique value is there already. */
  readonly duplicate: boolean;
}

/** A statement failed. It holds no error of a driver, which would hold values of rows, or an address with its password. */
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

/** A fault that trying again will not mend. */
export function permanentFault(message: string): DatabaseFault {
  return { message, transient: false, duplicate: false };
}

/** The file of the database was deleted or replaced under the process that has it open: what it writes is lost with it. */
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
