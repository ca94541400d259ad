import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import type { ApiError } from '../../api/errors.ts';
import { useWorkspaces } from '../../api/lists.ts';
import type { List } from '../../api/read-all.ts';
import { useChange, useList } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { Segments, Select } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatCount, formatListCount } from '../../parts/money.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { RELEASE_COLUMNS, SECRET_COLUMNS, type Secret } from './columns.tsx';
import { SecretPanel } from './panel.tsx';
import { parseVaultSearch } from './search.ts';
import { SecretForm } from './secret-form.tsx';

const TABS = [
  { value: 'secrets', label: 'Secrets' },
  { value: 'releases', label: 'Where they were sent' },
] as const;

/** Secrets without their values, and where they were sent. */
export function Page(): ReactElement {
  const [{ tab, scope, peek, isNew }, change] = useSearchState(parseVaultSearch);
  const [isRotating, setIsRotating] = useState(false);
  const workspaces = useWorkspaces();
  const secrets = useList(['vault-secrets', scope], (window, signal) =>
    client.GET('/vault/secrets', { signal, params: { query: { ...window, workspace_id: scope } } }),
  );
  useHotkeys({ n: () => change({ new: 'true' }) });
  const create = (
    <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
      New secret
    </Button>
  );
  return (
    <Frame
      title="Vault"
      isFilled
      lead={secrets.data === undefined ? undefined : formatListCount(secrets.data)}
      actions={
        <>
          <Button icon="refresh" onClick={() => setIsRotating(true)}>
            Master key
          </Button>
          {create}
        </>
      }
      bar={
        <>
          <Segments
            label="Show"
            value={tab}
            options={TABS}
            onChange={(next) => change({ tab: next, peek: undefined })}
          />
          <Select
            label="Whose"
            isLabelHidden
            value={scope}
            options={[
              { value: 'operator', label: 'what the configuration names' },
              ...(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: `workspace ${name}` })),
            ]}
            onChange={(next) => change({ scope: next, peek: undefined })}
          />
        </>
      }
    >
      {tab === 'releases' ? (
        <Releases scope={scope} />
      ) : (
        <Secrets
          of={secrets}
          scope={scope}
          peek={peek}
          create={create}
          onPeek={(name) => change({ peek: name }, false)}
        />
      )}
      <SecretForm
        key={`${scope} ${String(isNew)}`}
        scope={scope}
        isOpen={isNew}
        onClose={() => change({ new: undefined }, false)}
      />
      <RotateDialog isOpen={isRotating} onClose={() => setIsRotating(false)} />
    </Frame>
  );
}

function Secrets({
  of,
  scope,
  peek,
  create,
  onPeek,
}: {
  readonly of: UseQueryResult<List<Secret>, ApiError>;
  readonly scope: string;
  readonly peek: string;
  readonly create: ReactElement;
  readonly onPeek: (name: string | undefined) => void;
}): ReactElement {
  const peeked = of.data?.items.find(({ name }) => name === peek);
  return (
    <Load of={of}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="There is no secret here" action={create}>
            <p>
              Providers, credentials, destinations and MCP servers name a secret as vault:NAME; it is sent to its hosts
              alone, and never shown.
            </p>
          </Empty>
        ) : (
          <div className="flex min-h-0 flex-1">
            <Grid
              label="Secrets"
              columns={SECRET_COLUMNS}
              rows={items}
              keyOf={({ name }) => name}
              chosen={peek}
              onPeek={({ name }) => onPeek(name)}
            />
            {peeked !== undefined && (
              <SecretPanel
                key={`${scope} ${peeked.name}`}
                scope={scope}
                secret={peeked}
                onClose={() => onPeek(undefined)}
              />
            )}
          </div>
        )
      }
    </Load>
  );
}

function Releases({ scope }: { readonly scope: string }): ReactElement {
  const releases = useList(['vault-releases', scope], (window, signal) =>
    client.GET('/vault/releases', { signal, params: { query: { ...window, workspace_id: scope } } }),
  );
  return (
    <Load of={releases}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nothing was sent">
            <p>Each hour in which a secret was sent, or refused, is here for 90 days, with the host and the reason.</p>
          </Empty>
        ) : (
          <Grid
            label="Releases"
            columns={RELEASE_COLUMNS}
            rows={items}
            keyOf={({ at, name, host, caller, verdict, key_hash: hash }) =>
              [at, name, host, caller, verdict, hash].join(' ')
            }
          />
        )
      }
    </Load>
  );
}

/** Seals everything that is stored with another key. */
function RotateDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): ReactElement {
  const rotate = useChange(() => client.POST('/vault/rotate-master-key'));
  const { data, isSuccess } = rotate;
  const close = (): void => {
    rotate.reset();
    onClose();
  };
  return (
    <FormDialog
      title="Another master key"
      isOpen={isOpen}
      onClose={close}
      change={rotate}
      input={undefined}
      submit="Seal everything anew"
      isReady={!isSuccess}
      request={{ method: 'POST', path: '/vault/rotate-master-key' }}
    >
      <p>
        The gateway makes another key and seals with it all that is stored: secrets, credentials, destinations and
        content. Values stay as they are; fingerprints change.
      </p>
      {isSuccess && data !== undefined && (
        <p role="status" className="rounded-md bg-good-soft px-3 py-2 text-good">
          {formatCount(data.resealed)} rows were sealed anew
          {data.unreadable > 0 && `; ${formatCount(data.unreadable)} cannot be opened and stayed as they were`}.
        </p>
      )}
    </FormDialog>
  );
}
