import { GatewayError } from '../../canonical/gateway-error.ts';
import { nanoFromUsd } from '../../lib/money.ts';
import type { AdmitKey } from '../keys/authenticate.ts';
import type { Keys } from '../keys/keys.ts';
import { belongsTo, notYours, type Viewer } from '../people/viewer.ts';
import type { Principal } from '../principal.ts';

/** Keys as which operators and users try models in the dashboard: one for each person and workspace. @spec console-12 */
export interface ConsoleKeys {
  /**
   * Finds the key of an operator or a user in a workspace, or makes it. Nothing knows its text: it is used here alone.
   * @param viewer the user, which has to be a member of the workspace
   * @throws GatewayError 401 where the key of an operator was disabled, 403 for that of a user; 400 for an unknown
   * workspace, 404 for one that the user is no member of
   */
  of(
    person: Pick<Principal, 'keyHash' | 'memberId'>,
    workspaceId: string | undefined,
    viewer?: Viewer,
  ): Promise<Principal>;
}

export interface ConsoleKeysDeps {
  readonly keys: Pick<Keys, 'create' | 'list'>;
  readonly admitKey: AdmitKey;
  /** Finds the workspace of a call that may leave it out. @throws GatewayError 400 when there is none */
  readonly workspaceOf: (named: string | undefined) => Promise<string>;
}

const NAME = 'Console';
/** Keys that an operator issues for applications carry the label of the operator's key in its place. */
const ISSUER_LABEL = 'console';
const LIMIT_USD = 5;
const PAGE_KEYS = 100;
const KEYS_MAX = 1_000;

export function createConsoleKeys({ keys, admitKey, workspaceOf }: ConsoleKeysDeps): ConsoleKeys {
  /** Two calls of one person that come together make one key. */
  const making = new Map<string, Promise<string>>();

  async function find(issuerKeyHash: string, workspaceId: string): Promise<string | undefined> {
    for (let offset = 0; offset < KEYS_MAX; offset += PAGE_KEYS) {
      const filter = { kind: 'normal', includeDisabled: true, issuerKeyHash, workspaceId } as const;
      const page = await keys.list({ ...filter, offset, limit: PAGE_KEYS });
      const own = page.find(({ issuerLabel }) => issuerLabel === ISSUER_LABEL);
      if (own !== undefined) return own.hash;
      if (page.length < PAGE_KEYS) return undefined;
    }
    return undefined;
  }

  async function findOrMake(
    { keyHash: issuerKeyHash, memberId }: Pick<Principal, 'keyHash' | 'memberId'>,
    workspaceId: string,
  ): Promise<string> {
    const found = await find(issuerKeyHash, workspaceId);
    if (found !== undefined) return found;
    const { record } = await keys.create({
      name: NAME,
      workspaceId,
      issuerKeyHash,
      issuerLabel: ISSUER_LABEL,
      creatorUserId: memberId,
      limitNanoUsd: nanoFromUsd(LIMIT_USD),
      limitReset: 'daily',
    });
    return record.hash;
  }

  /** A disabled key must not look like a session that has ended. */
  async function admitOwn(hash: string): Promise<Principal> {
    try {
      return await admitKey(hash);
    } catch (error) {
      if (!(error instanceof GatewayError && error.status === 401)) throw error;
      throw new GatewayError('permission_denied', 'Your key for the dashboard is disabled. An admin can enable it.', {
        cause: error,
      });
    }
  }

  /** @throws GatewayError 404 in the same words for a workspace of others and for none */
  async function ownWorkspaceOf(viewer: Viewer, named: string | undefined): Promise<string> {
    const found = await workspaceOf(named).catch((error: unknown) => {
      if (named !== undefined && error instanceof GatewayError && error.status === 400) return undefined;
      throw error;
    });
    if (found === undefined || !belongsTo(viewer, found)) throw notYours();
    return found;
  }

  return {
    async of(person, named, viewer) {
      const workspaceId = await (viewer === undefined ? workspaceOf(named) : ownWorkspaceOf(viewer, named));
      const subject = `${person.keyHash} ${workspaceId}`;
      const hash = making.get(subject) ?? findOrMake(person, workspaceId).finally(() => making.delete(subject));
      making.set(subject, hash);
      return viewer === undefined ? admitKey(await hash) : admitOwn(await hash);
    },
  };
}
