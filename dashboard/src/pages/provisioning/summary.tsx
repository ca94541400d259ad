import type { ReactElement } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Id } from '../../parts/copy.tsx';
import { formatCount } from '../../parts/money.ts';
import { Stat, Stats } from '../../parts/page.tsx';
import { Ago, Name } from '../../parts/text.tsx';

const URL_CHARS = 60;

/** What was pushed, and how the provider is. */
export function Summary({ status }: { readonly status: Schemas['ScimStatus'] }): ReactElement {
  const { users, active_users: active, groups, mappings, last_request: last, last_refusal: refusal } = status;
  const baseUrl = status.base_url ?? `${location.origin}/scim/v2`;
  return (
    <>
      <Stats>
        <Stat label="Users" hint={`${formatCount(users - active)} deactivated`}>
          {formatCount(users)}
        </Stat>
        <Stat label="Groups" hint={`${formatCount(mappings)} mappings`}>
          {formatCount(groups)}
        </Stat>
        <Stat label="Last request" hint={last === null ? undefined : `${last.method} ${last.status}`}>
          <Ago at={last?.at} />
        </Stat>
        <Stat label="Last refusal" hint={refusal === null ? undefined : <Name>{refusal.outcome}</Name>}>
          <Ago at={refusal?.at} />
        </Stat>
      </Stats>
      <p className="flex flex-wrap items-center gap-x-2 border-b border-line bg-surface px-4 py-1.5 text-dim">
        The provider calls <Id id={baseUrl} length={URL_CHARS} />
      </p>
    </>
  );
}
