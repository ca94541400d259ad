import { Pool, types, type PoolClient } from 'pg';
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { assert } from '../../../lib/assert.ts';
import { DatabaseError, permanentFault, type DatabaseFault } from '../database-error.ts';
import { bindable } from '../../portable.ts';
import { classifyFault } from './fault.ts';

export interface ConnectionsOptions {
  readonly connectionsMax: number;
  /** The server ends a statement after this time. */
  readonly statementMsMax: number;
}

/** Connections to one server, opened when they are needed. Every error of theirs is a `DatabaseError`. */
export interface Connections extends PostgresPool {
  /** Runs one statement on any free connection. */
  run(statement: Statement): Promise<readonly unknown[]>;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The server remembers the plan of the statement under this name. */
  readonly name?: string;
  /** A shorter limit than that of all statements. */
  readonly waitMsMax?: number;
}

/** How long opening a connection may take, or waiting for one when all are in use. */
const CONNECT_MS_MAX = 5_000;
/**
 * The grace after a statement's limit: the server should have ended the statement by itself, and its silence means that
 * it is gone.
 */
const ANSWER_GRACE_MS = 2_000;
const IDLE_MS_MAX = 60_000;
/** How long a transaction may stay without a query: it may hold locks that others wait for. */
const IDLE_TRANSACTION_MS_MAX = 10_000;
/** Queries that may wait for a connection; one more is refused at once. */
const WAITING_MAX = 10_000;

export function openConnections(url: string, { connectionsMax, statementMsMax }: ConnectionsOptions): Connections {
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    idleTimeoutMillis: IDLE_MS_MAX,
    statement_timeout: statementMsMax,
    query_timeout: statementMsMax + ANSWER_GRACE_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS_MAX,
    keepAlive: true,
    application_name: 'model-gateway',
    types: {
      getTypeParser: (oid, format) => (oid === types.builtins.INT8 ? parseWhole : types.getTypeParser(oid, format)),
    },
  });
  // An idle connection ended, and the pool has dropped it. The next query finds out whether the server is there.
  pool.on('error', () => undefined);
  let users = 0;
  let isClosed = false;
  const unused = Promise.withResolvers<void>();
  const leave = (): void => {
    users--;
    if (isClosed && users === 0) unused.resolve();
  };
  const connect = async (): Promise<GuardedClient> => {
    if (isClosed) throw new DatabaseError(permanentFault('The database is closed.'));
    if (pool.waitingCount >= WAITING_MAX) throw new DatabaseError(TOO_MANY_WAIT);
    users++;
    try {
      return new GuardedClient(await pool.connect(), leave);
    } catch (error) {
      leave();
      throw new DatabaseError(classifyFault(error));
    }
  };
  return {
    options: {},
    connect,
    // The pool's own `end` would leave waiting queries without an answer.
    async end() {
      if (!isClosed && users === 0) unused.resolve();
      isClosed = true;
      await unused.promise;
      if (!pool.ending) await pool.end();
    },
    async run(statement) {
      const client = await connect();
      try {
        return await client.run(statement);
      } finally {
        client.release();
      }
    },
  };
}

const TOO_MANY_WAIT: DatabaseFault = {
  message: 'Too many queries wait for the database.',
  transient: true,
  duplicate: false,
};

/** A connection in use. It is not reused when an answer may still arrive on it. */
class GuardedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #onRelease: () => void;
  #lost = false;

  constructor(client: PoolClient, onRelease: () => void) {
    this.#client = client;
    this.#onRelease = onRelease;
    // Without a listener, a connection that ends between two statements would end the process.
    client.on('error', this.#onError);
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    sql: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof sql !== 'string') throw new TypeError('Results are read whole.');
    return this.#read<R>(sql, parameters);
  }

  async #read<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const result = await this.#guard(this.#client.query(sql, parameters.map(bindable)));
    assert(isResult<R>(result), 'one statement has one result');
    return result;
  }

  async run({ text, values, name, waitMsMax }: Statement): Promise<readonly unknown[]> {
    const config = {
      text,
      values: values.map(bindable),
      ...(name !== undefined && { name }),
      ...(waitMsMax !== undefined && { query_timeout: waitMsMax }),
    };
    const { rows } = await this.#guard(this.#client.query<Record<string, unknown>>(config));
    return rows;
  }

  release(destroy = false): void {
    this.#client.off('error', this.#onError);
    this.#client.release(destroy || this.#lost);
    this.#onRelease();
  }

  readonly #onError = (): void => {
    this.#lost = true;
  };

  async #guard<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } catch (error) {
      const fault = classifyFault(error);
      this.#lost ||= fault.sessionLost;
      throw new DatabaseError(fault);
    }
  }
}

/** The table types say what the rows hold. */
function isResult<R>(result: object): result is PostgresQueryResult<R> {
  return 'rows' in result && Array.isArray(result.rows);
}

/**
 * Refuses a whole number that a double cannot hold: money beyond nine million USD would silently lose its last digits.
 */
function parseWhole(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('A number of the database is too large to be read exactly.');
  return value;
}
