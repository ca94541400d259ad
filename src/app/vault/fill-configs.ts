import { namesVault } from '../../canonical/vault-reference.ts';
import { isJsonObject, type Json } from '../../lib/json.ts';
import type { FillConfig } from '../../telemetry/destinations/connection-test.ts';
import type { Service } from '../../telemetry/destinations/contract.ts';
import type { VaultValues } from '../../vault/values.ts';

/** Fills the secret members of destinations, each by the secrets of its workspace and for its own address. */
export function fillConfigs(values: Pick<VaultValues, 'fillIn'>, service: Service): FillConfig {
  return async (type, config, workspaceId) => {
    const texts = new Map<string, string>();
    for (const member of type.secrets) collect(member, config[member], texts);
    if (texts.size === 0) return config;
    const { url } = type.open(config, service);
    const filled = await values.fillIn({ kind: 'workspace', id: workspaceId })(Object.fromEntries(texts), {
      url,
      caller: `destination:${type.type}`,
      isKept: true,
    });
    return Object.fromEntries(
      Object.entries(config).map(([member, value]) => [member, replace(member, value, filled.texts)]),
    );
  };
}

function collect(path: string, value: Json | undefined, texts: Map<string, string>): void {
  if (typeof value === 'string' && namesVault(value)) texts.set(path, value);
  else if (isJsonObject(value))
    for (const [name, inner] of Object.entries(value)) collect(`${path}\n${name}`, inner, texts);
}

function replace(path: string, value: Json | undefined, texts: Readonly<Record<string, string>>): Json | undefined {
  if (typeof value === 'string') return texts[path] ?? value;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, replace(`${path}\n${name}`, inner, texts)]),
  );
}
