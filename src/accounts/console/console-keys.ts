import { nanoFromUsd } from '../../lib/money.ts';
import type { AdmitKey } from '../keys/authenticate.ts';
import type { Keys } from '../keys/keys.ts';
import type { Principal } from '../principal.ts';

/** Keys as which operators try models in the dashboard: one for each person and workspace. @spec console-12 */
export interface ConsoleKeys {
  /**
   * Finds the key of an operator in a workspace, or makes it. Nothing knows its text: it is used here alone.
   * @throws GatewayError 401 where it was disabled, 400 for an unknown workspace
   */
  of(operator: Pick<Principal, 'keyHash'>, workspaceId: string | undefined): Promise<Principal>;
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

  async function findOrMake(issuerKeyHash: string, workspaceId: string): Promise<string> {
    const found = await find(issuerKeyHash, workspaceId);
    if (found !== undefined) return found;
    const { record } = await keys.create({
      name: NAME,
      workspaceId,
      issuerKeyHash,
      issuerLabel: ISSUER_LABEL,
      limitNanoUsd: nanoFromUsd(LIMIT_USD),
      limitReset: 'daily',
    });
    return record.hash;
  }

  return {
    async of({ keyHash }, named) {
      const workspaceId = await workspaceOf(named);
      const subject = `${keyHash} ${workspaceId}`;
      const hash = making.get(subject) ?? findOrMake(keyHash, workspaceId).finally(() => making.delete(subject));
      making.set(subject, hash);
      return admitKey(await hash);
    },
  };
}
