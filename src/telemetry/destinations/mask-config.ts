import { namesVault } from '../../canonical/vault-reference.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { maskText } from '../../lib/text/mask-text.ts';
import type { DestinationType } from './contract.ts';

/** A configuration as it is shown. */
export function maskConfig({ secrets }: DestinationType, config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config).map(([member, value]) => [member, secrets.includes(member) ? mask(value) : value]),
  );
}

function mask(value: Json | undefined): Json {
  // A reference to the vault is no secret.
  if (typeof value === 'string') return namesVault(value) ? value : maskText(value);
  if (!isJsonObject(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([name, secret]) => [name, mask(secret)]));
}

/** Sending back a shown configuration changes nothing: a mask stands for the secret behind it. */
export function mergeConfig({ secrets }: DestinationType, known: JsonObject, requestJson: JsonObject): JsonObject {
  const unmask = (member: string, value: Json | undefined): Json | undefined => {
    if (!secrets.includes(member)) return value;
    const before = known[member];
    if (isJsonObject(value) && isJsonObject(before))
      return Object.fromEntries(
        Object.entries(value).map(([name, secret]) => [name, secret === mask(before[name]) ? before[name] : secret]),
      );
    return before !== undefined && value === mask(before) ? before : value;
  };
  const changed = Object.entries(requestJson).map(([member, value]) => [member, unmask(member, value)] as const);
  return { ...known, ...Object.fromEntries(changed) };
}
