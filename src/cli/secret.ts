import { rotateSecret, type Rotation } from '../accounts/byok/rotate-secret.ts';
import { createSecrets } from '../accounts/byok/secrets.ts';
import { sealedTables } from '../app/vault/sealed-tables.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { openAuditTrail } from './audit/audit-trail.ts';
import { unknownVerb, UsageError, type Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';
import { openConfiguredDatabase } from './open-database.ts';

/** `model-gateway secret rotate`: works on the store itself; a running gateway sees the change within seconds. */
export async function runSecret(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, CONFIG_FLAGS);
  const [verb, ...operands] = words;
  if (verb !== 'rotate') throw unknownVerb('secret', verb, ['rotate']);
  if (operands[0] !== undefined) throw new UsageError(`secret rotate: ${operands[0]}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    const rotation = await rotateSecret(createSecrets(config), sealedTables(database));
    await openAuditTrail(database, io)('secret rotate', `secret:${rotation.secretId}`);
    io.stdout.write(`${formatRotation(rotation, config.secret !== undefined)}\n`);
    for (const id of rotation.unreadable)
      io.stderr.write(`${id} cannot be opened: the secret that sealed it is gone.\n`);
    return rotation.unreadable.length === 0 ? 0 : 1;
  } finally {
    await database.close();
  }
}

function formatRotation({ began, secretId, resealed }: Rotation, isOperators: boolean): string {
  if (began === 'renewed') return `Made the secret ${secretId} and sealed ${resealed} rows with it.`;
  if (began === 'went on') return `Sealed ${resealed} rows with the secret ${secretId}.`;
  if (!isOperators) return `Nothing is sealed yet.`;
  return 'Everything is sealed with GATEWAY_SECRET. To change it, move it to GATEWAY_SECRET_PREVIOUS, set another, and run this again.';
}
