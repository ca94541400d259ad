import type { RoleAddresses } from '../../store/notifications/role-addresses.ts';
import type { Message } from '../message.ts';
import type { Send } from './sender.ts';

/** Sends to the users behind roles, each once. A digest is about nothing alone: it goes to admins of the organization. */
export function sendToRoles(send: Send, roles: RoleAddresses): Send {
  return async (message, context) => {
    const { recipients } = context.channel;
    const addresses = new Map<string, string>();
    for (const recipient of recipients ?? [])
      for (const address of await addressesOf(roles, recipient, message)) addresses.set(address.toLowerCase(), address);
    return send(message, { ...context, channel: { ...context.channel, recipients: [...addresses.values()] } });
  };
}

async function addressesOf(
  roles: RoleAddresses,
  recipient: string,
  { workspaceId, values }: Message,
): Promise<readonly string[]> {
  switch (recipient) {
    case 'org_admins':
      return roles.admins();
    case 'workspace_admins':
      return workspaceId === null ? [] : roles.adminsOf(workspaceId);
    case 'key_owner': {
      const { key_hash: hash } = values;
      return typeof hash === 'string' ? roles.ownerOf(hash) : [];
    }
    default:
      return [recipient];
  }
}
