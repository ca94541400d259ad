import { CONFIG_FLAGS, parseFlags } from '../../config/flags.ts';
import type { AuditEvent } from '../../resources/audit-events.ts';
import { createAuditStore } from '../../store/accounts/audit.ts';
import { UsageError } from '../command.ts';
import type { Io } from '../command.ts';
import { configArgs, loadCheckedConfig } from '../load-config.ts';
import { openConfiguredDatabase } from '../open-database.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  limit: { type: 'string' },
  action: { type: 'string' },
  subject: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const EVENTS = 20;
const EVENTS_MAX = 10_000;
const HASH_SHOWN_CHARS = 12;

/** `model-gateway audit`: lists changes with their key, newest first. */
export async function runAudit(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, FLAGS);
  if (words[0] !== undefined) throw new UsageError(`audit: ${words[0]}: unexpected argument`);
  const limit = readLimit(values.limit);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    const { rows } = await createAuditStore({ database }).list({
      offset: 0,
      limit,
      ...(values.action !== undefined && { action: values.action }),
      ...(values.subject !== undefined && { subject: values.subject }),
    });
    for (const event of rows) io.stdout.write(`${values.json === true ? formatJson(event) : formatLine(event)}\n`);
  } finally {
    await database.close();
  }
  return 0;
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return EVENTS;
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= EVENTS_MAX) return count;
  throw new UsageError(`--limit: must be a number from 1 to ${EVENTS_MAX}, not ${JSON.stringify(text)}`);
}

function formatLine(event: AuditEvent): string {
  const actor =
    event.actorKeyHash === null
      ? event.actorLabel
      : `${event.actorLabel} (${event.actorKeyHash.slice(0, HASH_SHOWN_CHARS)})`;
  const changes = Object.keys(event.changes).length === 0 ? '' : `  ${JSON.stringify(event.changes)}`;
  const line = `${new Date(event.atMs).toISOString()}  ${actor}  ${event.action}  ${event.subject}${changes}`;
  // What was changed may hold anything; a terminal must not obey it.
  return line.replace(/\p{Cc}/gu, ' ');
}

function formatJson({ id, atMs, actorKeyHash, actorLabel, action, subject, changes }: AuditEvent): string {
  const actor = { key_hash: actorKeyHash, label: actorLabel };
  return JSON.stringify({ id, at: new Date(atMs).toISOString(), actor, action, subject, changes });
}
