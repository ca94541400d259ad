import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import type { UserStore } from '../../store/accounts/users.ts';

/** A user: the owner of keys, or a member of a workspace. */
export interface OrganizationMember {
  readonly id: string;
  /** The id where it is an address, else empty: there is no sign-in, so no other address is known. */
  readonly email: string;
}

/** All users of the gateway are one organization: its operator bills no other one. @spec workspace-12 */
export interface Organization {
  /** Lists users by id. @throws GatewayError 404 while there are none: the account is one person's */
  listMembers(window: PageWindow): Promise<Page<OrganizationMember>>;
}

export function createOrganization({ store }: { readonly store: UserStore }): Organization {
  return {
    async listMembers(window) {
      const { rows, totalCount } = await store.list(window);
      if (totalCount === 0) throw new GatewayError('not_found', 'No user was named yet: this is a personal account.');
      return { rows: rows.map((id) => ({ id, email: isAddress(id) ? id : '' })), totalCount };
    },
  };
}

/** Whether an id is a mail address. */
export function isAddress(id: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(id);
}
