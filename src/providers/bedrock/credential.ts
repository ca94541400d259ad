import { parseJsonObject } from '../../lib/json.ts';
import { SettingError, type ByokCredential, type ByokTo } from '../contract.ts';

const HOST_REGION = /^bedrock-runtime\.([a-z0-9-]+)\./;

/**
 * Either signing keys, `{"accessKeyId", "secretAccessKey", "region"}` with `sessionToken` where there is one, or a key of
 * Bedrock's own, which works in the region that it was made in. @spec byok-14
 */
export function readBedrockCredential(text: string, to: ByokTo): readonly ByokCredential[] {
  const address = to.baseUrl !== undefined && { baseUrl: to.baseUrl };
  if (!text.trimStart().startsWith('{')) {
    const region = regionOf(to);
    return [{ apiKey: text, shown: text, ...address, options: { ...(region !== undefined && { region }) } }];
  }
  const { accessKeyId, secretAccessKey, sessionToken, region, ...more } = parseJsonObject(text) ?? {};
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string')
    throw new SettingError('key', 'must be JSON with accessKeyId, secretAccessKey and region, or a key of Bedrock');
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw new SettingError('key', 'has an unknown field');
  return [
    {
      shown: accessKeyId,
      ...address,
      options: {
        access_key_id: accessKeyId,
        secret_access_key: secretAccessKey,
        region: region ?? regionOf(to),
        ...(sessionToken !== undefined && { session_token: sessionToken }),
      },
    },
  ];
}

function regionOf({ baseUrl, env }: ByokTo): string | undefined {
  const ofHost = baseUrl === undefined ? undefined : HOST_REGION.exec(new URL(baseUrl).hostname)?.[1];
  return ofHost ?? [env['AWS_REGION'], env['AWS_DEFAULT_REGION']].find((text) => text !== undefined && text !== '');
}
