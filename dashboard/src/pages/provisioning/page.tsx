import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useWorkspaces } from '../../api/lists.ts';
import { useList, usePages, useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/field.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Failure, Load } from '../../parts/states.tsx';
import { MappingForm } from './mapping-form.tsx';
import { parseProvisioningSearch } from './search.ts';
import { Summary } from './summary.tsx';
import { Groups, Mappings, Requests, Tokens } from './tabs.tsx';
import { TokenForm } from './token-form.tsx';

const TABS = [
  { value: 'requests', label: 'Requests' },
  { value: 'mappings', label: 'Mappings' },
  { value: 'groups', label: 'Groups' },
  { value: 'tokens', label: 'Tokens' },
] as const;
const EVERY_MS = 10_000;

/** What identity providers push, and what their groups give. */
export function Page(): ReactElement {
  const [{ tab, peek, isNew }, change] = useSearchState(parseProvisioningSearch);
  const [token, setToken] = useState<string>();
  const status = useRead(['scim-status'], (signal) => client.GET('/scim/status', { signal }), { everyMs: EVERY_MS });
  const isOn = status.data !== undefined;
  const tokens = useRead(['scim-tokens'], (signal) => client.GET('/scim/tokens', { signal }), { enabled: isOn });
  const groups = useList(
    ['scim-groups'],
    (window, signal) => client.GET('/scim/groups', { signal, params: { query: window } }),
    { enabled: isOn },
  );
  const mappings = useList(
    ['scim-mappings'],
    (window, signal) => client.GET('/scim/group-mappings', { signal, params: { query: window } }),
    { enabled: isOn },
  );
  const requests = usePages(['scim-requests'], (window, signal) =>
    client.GET('/scim/requests', { signal, params: { query: window } }),
  );
  const workspaces = useWorkspaces(isOn);
  const onPeek = (id: string | undefined): void => change({ peek: id }, false);
  const begin = (): void => change({ new: 'true', peek: undefined, tab: tab === 'mappings' ? tab : 'tokens' });
  useHotkeys({ n: () => isOn && begin() });
  const create = (
    <Button look="primary" icon="plus" hotkey="n" onClick={begin}>
      {tab === 'mappings' ? 'New mapping' : 'New token'}
    </Button>
  );
  const close = (): void => change({ new: undefined }, false);
  const names = { groups: groups.data?.items ?? [], workspaces: workspaces.data ?? [] };
  return (
    <Frame
      title="Provisioning"
      isFilled
      actions={isOn ? create : undefined}
      bar={
        isOn ? (
          <Segments
            label="Show"
            value={tab}
            options={TABS}
            onChange={(next) => change({ tab: next, peek: undefined })}
          />
        ) : undefined
      }
    >
      {status.isError && status.error.status === 404 ? (
        <Empty title="Provisioning is off">
          <p>
            Entra ID, Okta and other identity providers push users and groups where scim.enabled is set in the
            configuration: docs/scim.md.
          </p>
        </Empty>
      ) : status.isError ? (
        <Failure error={status.error} onRetry={() => void status.refetch()} />
      ) : (
        <Load of={status}>
          {({ data }) => (
            <>
              <Summary status={data} />
              {tab === 'requests' && (
                <Requests of={requests} tokens={tokens.data?.data ?? []} peek={peek} onPeek={onPeek} />
              )}
              {tab === 'mappings' && <Mappings of={mappings} {...names} peek={peek} create={create} onPeek={onPeek} />}
              {tab === 'groups' && <Groups of={groups} />}
              {tab === 'tokens' && <Tokens of={tokens} peek={peek} create={create} onPeek={onPeek} />}
            </>
          )}
        </Load>
      )}
      <TokenForm
        key={`token ${String(isNew)}`}
        isOpen={isOn && isNew && tab !== 'mappings'}
        onToken={setToken}
        onClose={close}
      />
      <MappingForm
        key={`mapping ${String(isNew)}`}
        {...names}
        isOpen={isOn && isNew && tab === 'mappings'}
        onClose={close}
      />
      <Dialog title="The token" isOpen={token !== undefined} onClose={() => setToken(undefined)}>
        <p className="mb-3">It is shown this once. It opens /scim/v2 alone.</p>
        <CodeBlock label="Token" text={token ?? ''} />
      </Dialog>
    </Frame>
  );
}
