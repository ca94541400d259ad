import { parseJsonObject } from '../../lib/json.ts';
import { SettingError, type ByokCredential, type ByokTo } from '../contract.ts';

/**
 * Either the JSON of a service account with `region` where it is not to be `global`, or a key for Gemini alone. A `bucket`
 * is for batches, which do not exist here. @spec byok-14
 */
export function readVertexCredential(text: string, to: ByokTo): readonly ByokCredential[] {
  // The base URL of a configured provider ends in its project and location.
  const address = to.baseUrl !== undefined && { baseUrl: to.baseUrl.replace(/\/projects\/.*$/, '') };
  if (!text.trimStart().startsWith('{')) return [{ apiKey: text, shown: text, ...address }];
  const { region, bucket: _bucket, ...account } = parseJsonObject(text) ?? {};
  const { client_email: email } = account;
  if (account['type'] !== 'service_account' || typeof email !== 'string')
    throw new SettingError('key', 'must be the JSON of a service account, or a key');
  return [
    {
      shown: email,
      ...address,
      options: { credentials: JSON.stringify(account), ...(region !== undefined && { location: region }) },
    },
  ];
}
