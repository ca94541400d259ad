import { z } from 'zod';
import { refuseNewer } from '../migrate.ts';
import { openConnections } from './pool.ts';

export interface PostgresFacts {
  /** `16.4`. */
  readonly version: string;
  /** The duration of a round trip, ms. */
  readonly answerMs: number;
  /** The server accepts writes. */
  readonly isPrimary: boolean;
  /** What the server acknowledges is on its disk. */
  readonly isDurable: boolean;
  readonly canCreateTables: boolean;
}

const INSPECT_MS_MAX = 5_000;

const factsSchema = z.object({
  version: z.string(),
  is_replica: z.boolean(),
  synchronous_commit: z.string(),
  can_create: z.boolean(),
  has_tables: z.boolean(),
});

const FACTS = `select current_setting('server_version') as version, pg_is_in_recovery() as is_replica,
  current_setting('synchronous_commit') as synchronous_commit,
  coalesce(has_schema_privilege(current_schema(), 'create'), false) as can_create,
  to_regclass('schema_migrations') is not null as has_tables`;

/**
 * Inspects a server and changes nothing.
 * @throws Error in one sentence, when it cannot be reached or holds the tables of a newer version
 */
export async function inspectPostgres(url: string): Promise<PostgresFacts> {
  const connections = openConnections(url, { connectionsMax: 1, statementMsMax: INSPECT_MS_MAX });
  const ask = (text: string) => connections.run({ text, values: [] });
  try {
    const facts = factsSchema.parse((await ask(FACTS))[0]);
    if (facts.has_tables)
      refuseNewer(
        z.array(z.object({ name: z.string() })).parse(await ask('select name from schema_migrations order by name')),
      );
    const startedMs = performance.now();
    await ask('select 1');
    return {
      version: facts.version.split(' ')[0] ?? facts.version,
      answerMs: performance.now() - startedMs,
      isPrimary: !facts.is_replica,
      isDurable: facts.synchronous_commit !== 'off',
      canCreateTables: facts.can_create,
    };
  } finally {
    await connections.end();
  }
}
