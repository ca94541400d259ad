import type { Page, PageWindow } from '../store/engine/page.ts';
import type { PushedUser } from '../store/scim/pushed-users.ts';

export type { PushedUser } from '../store/scim/pushed-users.ts';

/** What operators see of users that identity providers push. */
export interface PushedUsers {
  list(window: PageWindow): Promise<Page<PushedUser>>;
  /** After a deletion by the provider, when the user is forgotten; `undefined`: never by itself. */
  readonly forgottenAfterMs: number | undefined;
}
