import { Kysely, PostgresDialect, sql } from 'kysely';
import { DatabaseError } from '../database-error.ts';
import type { Engine, Patient, RunAlone } from '../engine.ts';
import type { RefusedSettlement } from '../../generations/settlement.ts';
import type { Tables } from '../../tables.ts';
import { openConnections, type Connections } from './pool.ts';
import { settleStatement } from './settle.ts';

/** A process opens at most so many of the server's connections, beside those for reports and one for charges. */
const CONNECTIONS_MAX = 7;
const REPORT_CONNECTIONS_MAX = 3;
const STATEMENT_MS_MAX = 10_000;
/** How long a migration may run or wait for another process that migrates, and how long a full read may take. */
const PATIENT_MS_MAX = 600_000;
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
    runAlone: runAloneIn(kysely),
    withPatience: (task) => withPatience(url, task),
    appendSettlements: (batch) => appendSettlements(chargeConnections, batch),
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

/** Stores all settlements at once and, when the server refuses one of them, each separately. */
async function appendSettlements(
  budgetReservation: Connections,
  batch: Parameters<Engine['appendSettlements']>[0],
): Promise<readonly RefusedSettlement[]> {
  if (batch.length === 0) return [];
  try {
    await budgetReservation.run(settleStatement(batch));
    return [];
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.transient) throw error;
    if (batch.length === 1) return [{ index: 0, fault: error }];
  }
  const refused: RefusedSettlement[] = [];
  for (const [index, settlement] of batch.entries())
    for (const { fault } of await appendSettlements(budgetReservation, [settlement])) refused.push({ index, fault });
  return refused;
}
