import { createAudit } from '../../accounts/audit.ts';
import { systemClock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import { createAuditStore } from '../../store/accounts/audit.ts';
import type { Database } from '../../store/engine/database.ts';
import type { Io } from '../command.ts';

/** Records a change that a command made. It must hold no secret. */
export type RecordChange = (action: string, subject: string, changes?: JsonObject) => Promise<void>;

export function openAuditTrail(database: Database, io: Pick<Io, 'stderr'>): RecordChange {
  const audit = createAudit({
    store: createAuditStore({ database }),
    clock: systemClock,
    onLost: (event) => io.stderr.write(`This change could not be recorded: ${event.action} ${event.subject}\n`),
  });
  return (action, subject, changes = {}) => audit.record({ actor: 'command line', action, subject, changes });
}
