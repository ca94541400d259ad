import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useManagedWorkspace } from '../../api/lists.ts';
import { useChange, useList } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { formatListCount } from '../../parts/money.ts';
import { Facts, Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { useWorkspaceSelect } from '../../parts/selects/workspace-select.tsx';
import { deliveriesOf, DESTINATION_COLUMNS, getsOf, switchesOf, type Destination } from './columns.tsx';
import { DestinationForm } from './destination-form.tsx';
import { parseDestinationsSearch } from './search.ts';

/** Where records go. */
export function Page(): ReactElement {
  const [{ workspace, peek, isNew }, change] = useSearchState(parseDestinationsSearch);
  const { id: workspaceId, isKnown, workspaces } = useManagedWorkspace(workspace);
  const select = useWorkspaceSelect(workspace, (next) => change({ workspace: next, peek: undefined }));
  const destinations = useList(
    ['destinations', workspaceId],
    (window, signal) =>
      client.GET('/observability/destinations', {
        signal,
        params: { query: { ...window, workspace_id: workspaceId } },
      }),
    { enabled: isKnown },
  );
  useHotkeys({ n: () => change({ new: 'true' }) });
  const closed = (workspaces.data ?? []).filter(
    ({ id, is_observability_broadcast_enabled: isOn }) => id === workspaceId && !isOn,
  );
  const create = (
    <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
      New destination
    </Button>
  );
  const peeked = destinations.data?.items.find(({ id }) => id === peek);
  return (
    <Frame
      title="Destinations"
      isFilled
      lead={destinations.data === undefined ? undefined : formatListCount(destinations.data)}
      actions={create}
      bar={select}
    >
      <Load of={destinations} after={workspaces}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Records go nowhere but into the database" action={create}>
              <p>
                A destination gets a span or a message for each request: an OpenTelemetry collector, its metrics, or a
                webhook of yours.
              </p>
            </Empty>
          ) : (
            <>
              {closed.length > 0 && (
                <p role="note" className="border-b border-line bg-warn-soft px-4 py-1 text-warn">
                  Nothing leaves {closed.map(({ name }) => name).join(', ')}: the workspace&apos;s own switch is off.
                </p>
              )}
              <div className="flex min-h-0 flex-1">
                <Grid
                  label="Destinations"
                  columns={DESTINATION_COLUMNS}
                  rows={items}
                  keyOf={({ id }) => id}
                  chosen={peek}
                  onPeek={({ id }) => change({ peek: id }, false)}
                />
                {peeked !== undefined && (
                  <Panel key={peeked.id} destination={peeked} onClose={() => change({ peek: undefined }, false)} />
                )}
              </div>
            </>
          )
        }
      </Load>
      <DestinationForm
        key={String(isNew)}
        workspaceId={workspaceId}
        isOpen={isNew}
        onClose={() => change({ new: undefined }, false)}
      />
    </Frame>
  );
}

function Panel({
  destination,
  onClose,
}: {
  readonly destination: Destination;
  readonly onClose: () => void;
}): ReactElement {
  const [open, setOpen] = useState<'change' | 'delete'>();
  const { id, name, type, enabled } = destination;
  const params = { path: { id } };
  const test = useChange(() => client.POST('/observability/destinations/{id}/test', { params }));
  const change = useChange((body: Schemas['UpdateObservabilityDestinationRequest']) =>
    client.PATCH('/observability/destinations/{id}', { params, body }),
  );
  const remove = useChange(() => client.DELETE('/observability/destinations/{id}', { params }), onClose);
  return (
    <SidePanel title={<Name>{name ?? type}</Name>} onClose={onClose}>
      <Section title="Does it arrive">
        <div className="flex items-center gap-3">
          <Button disabled={test.isPending} onClick={() => test.mutate(undefined)}>
            {test.isPending ? 'Sending …' : 'Send a test'}
          </Button>
          <span aria-live="polite">
            {test.isSuccess && <Badge tone="good">it was taken</Badge>}
            {test.isError && <span className="text-bad">{test.error.message}</span>}
          </span>
        </div>
      </Section>
      <Section title="Deliveries">
        <Facts of={deliveriesOf(destination)} />
      </Section>
      <Section
        title="Settings"
        actions={
          <>
            <Button icon="settings" onClick={() => setOpen('change')}>
              Change
            </Button>
            <Button disabled={change.isPending} onClick={() => change.mutate({ enabled: !enabled })}>
              {enabled ? 'Switch off' : 'Switch on'}
            </Button>
            <Button icon="trash" aria-label="Delete the destination" onClick={() => setOpen('delete')} />
          </>
        }
      >
        <Facts
          of={[
            ['Kind', type],
            ['Gets', getsOf(destination)],
            ['With', switchesOf(destination).join(', ')],
            [
              'Rules',
              destination.filter_rules === null ? 'all records' : JSON.stringify(destination.filter_rules.groups),
            ],
          ]}
        />
        <div className="mt-3">
          <JsonView value={destination.config} label="Configuration, secrets masked" />
        </div>
      </Section>
      <DestinationForm
        key={String(open === 'change')}
        workspaceId={destination.workspace_id}
        destination={destination}
        isOpen={open === 'change'}
        onClose={() => setOpen(undefined)}
      />
      <DeleteDialog
        what="destination"
        name={name ?? type}
        isOpen={open === 'delete'}
        onClose={() => setOpen(undefined)}
        change={remove}
      >
        What waits to be sent is dropped.
      </DeleteDialog>
    </SidePanel>
  );
}
