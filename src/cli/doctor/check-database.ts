import { existsSync } from 'node:fs';
import { inspectPostgres } from '../../store/engine/postgres/inspect.ts';
import { inspectSqlite } from '../../store/engine/sqlite/inspect.ts';
import type { Finding } from '../../app/check-provider/finding.ts';

/** Older servers lack what is used of them. */
const VERSION_MIN = 13;
/** Beyond this every answer's end waits noticeably for its charge. */
const SLOW_MS = 20;

/**
 * Whether gateways can keep their tables there. Neither the address nor its password is said.
 * @param path of the embedded database, which is used without a `url`
 */
export async function checkDatabase(url: string | undefined, path: string): Promise<Finding> {
  if (url === undefined) return checkFile(path);
  try {
    const { version, answerMs, isPrimary, isDurable, canCreateTables } = await inspectPostgres(url);
    const answered = `PostgreSQL ${version} answers in ${answerMs.toFixed(1)} ms`;
    if (Number.parseInt(version, 10) < VERSION_MIN)
      return { verdict: 'failed', message: `${answered}, but version ${VERSION_MIN} is the oldest that will do.` };
    if (!isPrimary)
      return { verdict: 'failed', message: `${answered}, but is a replica, which nothing can be written to.` };
    if (!canCreateTables)
      return { verdict: 'failed', message: `${answered}, but this user may not make tables: grant it the schema.` };
    if (!isDurable)
      return {
        verdict: 'warning',
        message: `${answered}, but acknowledges what is not on its disk yet: charges can be lost. Set synchronous_commit to on.`,
      };
    if (answerMs > SLOW_MS)
      return { verdict: 'warning', message: `${answered}: every response's end waits for it at least once.` };
    return { verdict: 'ok', message: `${answered}.` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { verdict: 'failed', message: `The database cannot be used (${reason}): check database_url.` };
  }
}

function checkFile(path: string): Finding {
  if (!existsSync(path))
    return {
      verdict: 'ok',
      message: 'database_url is not set: the first start creates a database in the data directory.',
    };
  try {
    inspectSqlite(path);
    return { verdict: 'ok', message: 'database_url is not set: the database is in the data directory.' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      verdict: 'failed',
      message: `${path} cannot be used (${reason}): put a backup in its place with "restore".`,
    };
  }
}
