import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import type { AppliedBatch, JournalBatch, RefusedRecord } from '../../../journal/batch.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { decodeBatch, type DecodedBatch } from '../../journal/decode-batch.ts';
import { DatabaseError } from '../database-error.ts';
import type { Engine, Patient, RunAlone } from '../engine.ts';
import type { Tables } from '../../tables.ts';
import { openConnections, type Connections } from './pool.ts';
import { sumUpAgain } from '../../usage/usage-progress.ts';
import { batchStatement, type BatchRows } from './apply-batch.ts';

/** A process opens at most so many of the server's connections, beside those for reports and one for charges. */
const CONNECTIONS_MAX = 7;
const REPORT_CONNECTIONS_MAX = 3;
const STATEMENT_MS_MAX = 10_000;
/** How long a migration may run or wait for another process that migrates, and how long a full read may take. */
const PATIENT_MS_MAX = 600_000;
/** Of a journal in one statement: encoding them takes some milliseconds, in which no stream moves. */
const RECORDS_MAX = 250;
const PING_MS_MAX = 2_000;

/** @throws DatabaseError when the server does not answer, or refuses the login */
export async function openPostgres(url: string): Promise<Engine> {
  const connections = openConnections(url, { connectionsMax: CONNECTIONS_MAX, statementMsMax: STATEMENT_MS_MAX });
  // Reports have connections of their own: a read of months of records must not delay the look-up of a key or of
  // spending.
  const reportConnections = openConnections(url, {
    connectionsMax: REPORT_CONNECTIONS_MAX,
    statementMsMax: STATEMENT_MS_MAX,
  });
  // Charges have a connection of their own: other busy connections do not delay the end of a response.
  const chargeConnections = openConnections(url, { connectionsMax: 1, statementMsMax: STATEMENT_MS_MAX });
  const kysely = kyselyOver(connections);
  const close = async (): Promise<void> => {
    await Promise.all([connections.end(), reportConnections.end(), chargeConnections.end()]);
  };
  try {
    await ping(chargeConnections);
  } catch (error) {
    await close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    name: 'postgres',
    kysely,
    reports: kyselyOver(reportConnections),
    // Rows have locks of their own here.
    background: kysely,
    runAlone: runAloneIn(kysely),
    withPatience: (task) => withPatience(url, task),
    applyBatch: (batch) => applyBatch(chargeConnections, batch),
    ping: () => ping(connections),
    close: () => (closing ??= close()),
  };
}

function kyselyOver(pool: Connections): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

async function ping(connections: Connections): Promise<void> {
  await connections.run({ text: 'select 1', values: [], waitMsMax: PING_MS_MAX });
}

/** The lock is the database's own. It ends with the transaction, or with the process that holds it. */
function runAloneIn(kysely: Kysely<Tables>): RunAlone {
  return (name, task) =>
    kysely.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`model-gateway ${name}`}, 0))`.execute(transaction);
      return task(transaction);
    });
}

async function withPatience<Value>(url: string, task: (patient: Patient) => Promise<Value>): Promise<Value> {
  const patient = openConnections(url, { connectionsMax: 1, statementMsMax: PATIENT_MS_MAX });
  try {
    const kysely = kyselyOver(patient);
    return await task({ kysely, runAlone: runAloneIn(kysely) });
  } finally {
    await patient.end();
  }
}

/** Stores all records at once and, when the server refuses one of them, each separately. */
async function applyBatch(connections: Connections, batch: JournalBatch): Promise<AppliedBatch> {
  const decoded = decodeBatch(batch, RECORDS_MAX);
  const { damaged, end } = decoded;
  const { all, one, last } = partsOf(batch, decoded);
  // A job and its charge are stored together or not at all.
  if (batch.jobEnd !== undefined) {
    const isJobEnded = await storeRows(connections, { ...all, jobEnd: batch.jobEnd }, decoded.lateSinceMs);
    return { end, records: isJobEnded ? one.length : 0, refused: decoded.unknown, damaged, isJobEnded };
  }
  const store = (rows: BatchRows): Promise<unknown> => storeRows(connections, rows, decoded.lateSinceMs);
  const refused: RefusedRecord[] = [...decoded.unknown];
  try {
    await store(all);
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.transient) throw error;
    for (const { payload, rows } of one) await store(rows).catch(refusing(payload, refused));
    await store(last);
  }
  return { end, records: one.length + decoded.unknown.length - refused.length, refused, damaged };
}

function refusing(payload: string, refused: RefusedRecord[]): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof DatabaseError) || error.transient) throw error;
    refused.push({ payload, message: error.message });
  };
}

/** A batch as one statement, or as one for each record and one for the checkpoint. */
function partsOf({ columns, checkpoint }: JournalBatch, { generations, feedback, end }: DecodedBatch) {
  const nothing: BatchRows = { columns, generations: [], feedback: [] };
  const last: BatchRows = { ...nothing, checkpoint: checkpoint && { ...checkpoint, end } };
  return {
    all: { ...last, generations: generations.map(({ row }) => row), feedback: feedback.map(({ row }) => row) },
    one: [
      ...generations.map(({ row, payload }) => ({ payload, rows: { ...nothing, generations: [row] } })),
      ...feedback.map(({ row, payload }) => ({ payload, rows: { ...nothing, feedback: [row] } })),
    ],
    last,
  };
}

/** @returns whether the job of the rows ended; `true` where there is none */
async function storeRows(connections: Connections, rows: BatchRows, lateSinceMs: number | undefined): Promise<boolean> {
  const statement = batchStatement(rows);
  const hasEnded = ([row]: readonly unknown[]): boolean => isJsonObject(row) && Number(row['ended']) > 0;
  if (lateSinceMs === undefined) return hasEnded(await connections.run(statement));
  // With what says that the sums lack these records: else a kill in between would leave them without.
  return runAloneIn(kyselyOver(connections))('usage-progress', async (transaction) => {
    const { rows: counted } = await transaction.executeQuery(CompiledQuery.raw(statement.text, [...statement.values]));
    await sumUpAgain(transaction, lateSinceMs);
    return hasEnded(counted);
  });
}
