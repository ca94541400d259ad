import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/field.tsx';
import { FilterBox } from '../../parts/filter-box.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { Groups } from './groups.tsx';
import { Requests } from './requests.tsx';
import { parseProvisioningSearch } from './search.ts';
import { StatusTab } from './status.tsx';
import { TokenForm } from './tokens.tsx';
import { Users } from './users.tsx';

const TAB_OPTIONS = [
  { value: 'status', label: 'Status' },
  { value: 'groups', label: 'Groups' },
  { value: 'users', label: 'Users' },
  { value: 'requests', label: 'Requests' },
] as const;
const EVERY_MS = 10_000;

/** Users and groups that an identity provider pushes: whether they arrive, and why not. */
export function Page(): ReactElement {
  const [{ tab, filter, peek, isNew }, change] = useSearchState(parseProvisioningSearch);
  const [token, setToken] = useState<string>();
  const status = useRead(['scim-status'], (signal) => client.GET('/scim/status', { signal }), { everyMs: EVERY_MS });
  useHotkeys({ n: () => change({ new: 'true' }) });
  const setFilter = (q: string): void => change({ q }, false);
  const onPeek = (id: string | undefined): void => change({ peek: id }, false);
  const onNew = (): void => change({ new: 'true' });
  if (status.isError && status.error.status === 404) return <Off reason={status.error.message} />;
  return (
    <Frame
      title="Provisioning"
      isFilled={tab !== 'status'}
      lead="SCIM"
      actions={
        <Button look="primary" icon="plus" hotkey="n" onClick={onNew}>
          New token
        </Button>
      }
      bar={
        <>
          <Segments
            label="Show"
            value={tab}
            options={TAB_OPTIONS}
            onChange={(next) => change({ tab: next, peek: undefined, q: undefined })}
          />
          {tab !== 'status' && (
            <FilterBox value={filter} onChange={setFilter} placeholder={PLACEHOLDERS[tab]} label={`Filter ${tab}`} />
          )}
        </>
      }
    >
      {tab === 'status' && <Load of={status}>{({ data }) => <StatusTab status={data} />}</Load>}
      {tab === 'groups' && <Groups filter={filter} peek={peek} onPeek={onPeek} onFilter={setFilter} />}
      {tab === 'users' && <Users filter={filter} peek={peek} onPeek={onPeek} onFilter={setFilter} />}
      {tab === 'requests' && <Requests filter={filter} peek={peek} onPeek={onPeek} onFilter={setFilter} />}
      <TokenForm
        key={String(isNew)}
        isOpen={isNew}
        onToken={setToken}
        onClose={() => change({ new: undefined }, false)}
      />
      <Dialog title="The token" isOpen={token !== undefined} onClose={() => setToken(undefined)}>
        <div className="flex flex-col gap-3">
          <p>It is shown this once, and opens /scim/v2 alone. The provider calls it secret token, or HTTP header.</p>
          <CodeBlock label="Token" text={token ?? ''} isWrapped />
          <div className="flex justify-end">
            <Button look="primary" onClick={() => setToken(undefined)}>
              I have it
            </Button>
          </div>
        </div>
      </Dialog>
    </Frame>
  );
}

const PLACEHOLDERS = { groups: 'platform', users: 'ann@', requests: '409' } as const;

function Off({ reason }: { readonly reason: string }): ReactElement {
  return (
    <Frame title="Provisioning" lead="SCIM is off">
      <Empty title="No identity provider pushes users here" action={<LinkButton to="/ui/people">People</LinkButton>}>
        <p>{reason}</p>
        <p>With it, Entra ID, Okta and others push users and groups to this gateway, and take them away at once.</p>
        <CodeBlock label="Configuration" text={'organization: { enabled: true }\nscim: { enabled: true }'} />
      </Empty>
    </Frame>
  );
}
