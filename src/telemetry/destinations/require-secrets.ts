import { invalid } from '../../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { maskText } from '../../lib/text/mask-text.ts';
import type { DestinationType, OpenDestination, Service } from './contract.ts';

/** What is stored, what a change sends, and where each of them leads. */
export interface AddressChange {
  readonly type: DestinationType;
  /** As it is stored, secrets in clear. */
  readonly known: JsonObject;
  /** As the caller sent it. */
  readonly sent: JsonObject;
  /** The destination after the change. */
  readonly after: Pick<OpenDestination, 'url' | 'origin'>;
  readonly service: Service;
}

/**
 * A stored secret goes to the origin that it was stored for, and to no other: a change of the address to another origin
 * takes every secret again, in clear.
 * @throws GatewayError 400 that names the members
 */
export function requireSecretsForNewOrigin({ type, known, sent, after, service }: AddressChange): void {
  const before = type.schema.safeParse(known).success ? type.open(known, service) : undefined;
  if (before !== undefined && originOf(before) === originOf(after)) return;
  const missing = type.secrets.filter((member) => isSet(known[member]) && !isSentAgain(known[member], sent[member]));
  if (missing.length === 0) return;
  const names = missing.map((member) => `config.${member}`).join(', ');
  throw invalid(
    missing.map((member) => `config.${member}`)[0] ?? 'config',
    `the address changes to another origin, so that the stored secrets must be sent again in full: ${names}`,
  );
}

function originOf({ url, origin }: AddressChange['after']): string {
  return origin ?? new URL(url).origin;
}

function isSet(value: Json | undefined): boolean {
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return value !== undefined && value !== null;
}

/** Sent, and nothing of it is the mask that stands for a stored value. */
function isSentAgain(known: Json | undefined, sent: Json | undefined): boolean {
  if (sent === undefined) return false;
  if (!isJsonObject(sent)) return typeof known !== 'string' || sent !== maskText(known);
  const before = isJsonObject(known) ? known : {};
  return Object.entries(sent).every(([name, value]) => {
    const stored = before[name];
    return typeof stored !== 'string' || value !== maskText(stored);
  });
}
