import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useKeys, useWorkspaces } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { useConsole } from '../../api/session.ts';
import { Button, To } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { DeleteDialog, FormDialog, issueFor } from '../../parts/form.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatCount } from '../../parts/money.ts';
import { Facts, Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { keptOf, WORKSPACE_COLUMNS, type WorkspaceRow } from './columns.tsx';
import { EditWorkspace } from './edit-workspace.tsx';
import { Members } from './members.tsx';
import { parseWorkspacesSearch } from './search.ts';

/** Teams with their defaults, members and what is kept of what they say. */
export function Page(): ReactElement {
  const [{ peek, isNew }, change] = useSearchState(parseWorkspacesSearch);
  const { isOperator } = useConsole();
  const workspaces = useWorkspaces();
  const keys = useKeys();
  useHotkeys(isOperator ? { n: () => change({ new: 'true' }) } : {});
  const rows = (workspaces.data ?? []).map((workspace): WorkspaceRow => {
    const own = (keys.data ?? []).filter((key) => key.workspace_id === workspace.id);
    return { workspace, keys: own.length, month: own.reduce((sum, key) => sum + key.usage_monthly, 0) };
  });
  const peeked = rows.find(({ workspace }) => workspace.id === peek);
  return (
    <Frame
      title="Workspaces"
      isFilled
      lead={formatCount(rows.length)}
      actions={
        isOperator ? (
          <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
            New workspace
          </Button>
        ) : undefined
      }
    >
      <Load of={workspaces}>
        {() => (
          <div className="flex min-h-0 flex-1">
            <Grid
              label="Workspaces"
              columns={WORKSPACE_COLUMNS}
              rows={rows}
              keyOf={({ workspace }) => workspace.id}
              chosen={peek}
              onPeek={({ workspace }) => change({ peek: workspace.id }, false)}
            />
            {peeked !== undefined && (
              <Panel key={peek} row={peeked} onClose={() => change({ peek: undefined }, false)} />
            )}
          </div>
        )}
      </Load>
      <NewWorkspace key={String(isNew)} isOpen={isNew} onClose={() => change({ new: undefined }, false)} />
    </Frame>
  );
}

function Panel({
  row: { workspace, keys },
  onClose,
}: {
  readonly row: WorkspaceRow;
  readonly onClose: () => void;
}): ReactElement {
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const { id, name, slug } = workspace;
  const { session, isOperator } = useConsole();
  const mayChange = isOperator || session?.workspaces?.find((own) => own.id === id)?.role === 'admin';
  const remove = useChange(() => client.DELETE('/workspaces/{id}', { params: { path: { id }, query: {} } }), onClose);
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Section
        title="Defaults"
        actions={
          mayChange ? (
            <Button icon="settings" onClick={() => setOpen('edit')}>
              Change
            </Button>
          ) : undefined
        }
      >
        <Facts
          of={[
            ['What for', workspace.description ?? '–'],
            ['Default model', workspace.default_text_model ?? 'none: a request must name one'],
            ['Order of providers', workspace.default_provider_sort ?? 'balanced'],
            ['Plugins', workspace.default_plugins?.map((plugin) => plugin.id).join(', ') ?? 'none'],
            ['Content', keptOf(workspace)],
            [
              'Destinations',
              workspace.is_observability_broadcast_enabled ? 'records go to them' : 'records do not go to them',
            ],
            [
              'Own credentials',
              workspace.include_byok_in_budgets ? 'count against budgets' : 'do not count against budgets',
            ],
            [
              'Keys',
              <To key="keys" to="/ui/keys" search={{ workspace: id }}>
                {formatCount(keys)}
              </To>,
            ],
            ['Id', <Id key="id" id={id} length={36} />],
          ]}
        />
      </Section>
      <Members id={id} />
      {isOperator && (
        <Section title="Danger">
          <Button icon="trash" onClick={() => setOpen('delete')}>
            Delete the workspace
          </Button>
        </Section>
      )}
      <EditWorkspace
        key={String(open === 'edit')}
        workspace={workspace}
        isOpen={open === 'edit'}
        onClose={() => setOpen(undefined)}
      />
      <DeleteDialog
        what="workspace"
        name={slug}
        isOpen={open === 'delete'}
        onClose={() => setOpen(undefined)}
        change={remove}
      >
        Its {formatCount(keys)} keys, its budgets, guardrails, presets, files and destinations go with it. Records stay.
      </DeleteDialog>
    </SidePanel>
  );
}

function NewWorkspace({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): ReactElement {
  const [name, setName] = useState('');
  const [slug, setSlug] = useState<string>();
  const body = { name, slug: slug ?? slugOf(name) };
  const create = useChange(
    (workspace: Schemas['CreateWorkspaceRequest']) => client.POST('/workspaces', { body: workspace }),
    onClose,
  );
  return (
    <FormDialog
      title="New workspace"
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      input={body}
      submit="Make workspace"
      request={{ method: 'POST', path: '/workspaces', body }}
    >
      <TextField
        label="Name"
        autoFocus
        placeholder="Team A"
        value={name}
        error={issueFor(create.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Slug"
        className="font-mono text-xs"
        value={body.slug}
        error={issueFor(create.error, 'slug')}
        onChange={(event) => setSlug(event.target.value)}
      />
    </FormDialog>
  );
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
