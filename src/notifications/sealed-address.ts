import { namesVault } from '../canonical/vault-reference.ts';
import { isJsonObject, parseJson } from '../lib/json.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { ChannelRow } from '../resources/notification-channels.ts';
import type { NotificationDeps } from './deps.ts';
import type { ChannelConfig } from './senders/sender.ts';

/** What is sealed for one channel opens for no other. */
export function channelPurpose(id: string): string {
  return `notification channel:${id}`;
}

export function sealConfig(
  box: SecretBox,
  id: string,
  config: ChannelConfig,
): Pick<ChannelRow, 'sealedConfig' | 'secretId'> {
  return { sealedConfig: box.seal(JSON.stringify(config), channelPurpose(id)), secretId: box.currentId };
}

/** @throws SecretBoxError when its secret is gone */
export function openConfig(box: SecretBox, { id, sealedConfig }: ChannelRow): ChannelConfig {
  const found = parseJson(box.open(sealedConfig, channelPurpose(id)));
  if (!isJsonObject(found)) return {};
  const { url, secret, previous } = found;
  return {
    ...(typeof url === 'string' && { url }),
    ...(typeof secret === 'string' && { secret }),
    ...(isJsonObject(previous) &&
      typeof previous['secret'] === 'string' &&
      typeof previous['untilMs'] === 'number' && {
        previous: { secret: previous['secret'], untilMs: previous['untilMs'] },
      }),
  };
}

/** With the address that is called, where the channel's names a secret of the vault. @throws VaultError */
export async function withAddress(
  { fillAddress }: Pick<NotificationDeps, 'fillAddress'>,
  config: ChannelConfig,
): Promise<ChannelConfig> {
  return config.url === undefined || !namesVault(config.url)
    ? config
    : { ...config, url: await fillAddress(config.url) };
}
