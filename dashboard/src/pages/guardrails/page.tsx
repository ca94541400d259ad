import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useManagedWorkspace } from '../../api/lists.ts';
import { useChange, useList } from '../../api/read.ts';
import { useConsole } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatListCount } from '../../parts/money.ts';
import { Facts, Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { useWorkspaceSelect } from '../../parts/selects/workspace-select.tsx';
import { filtersOf, GUARDRAIL_COLUMNS, type Guardrail } from './columns.tsx';
import { Matches } from './matches.tsx';
import { NewGuardrail } from './new-guardrail.tsx';
import { parseGuardrailsSearch } from './search.ts';
import { TryIt } from './try-it.tsx';

/** What must not pass, tried before it is used. */
export function Page(): ReactElement {
  const [{ workspace, peek, isNew }, change] = useSearchState(parseGuardrailsSearch);
  const { isOperator } = useConsole();
  const { id: workspaceId, isKnown, workspaces } = useManagedWorkspace(workspace);
  const select = useWorkspaceSelect(workspace, (next) => change({ workspace: next, peek: undefined }));
  const guardrails = useList(
    ['guardrails', workspaceId],
    (window, signal) =>
      client.GET('/guardrails', { signal, params: { query: { ...window, workspace_id: workspaceId } } }),
    { enabled: isKnown },
  );
  useHotkeys(isOperator ? { n: () => change({ new: 'true' }) } : {});
  const create = isOperator && (
    <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
      New guardrail
    </Button>
  );
  const list = guardrails.data?.items ?? [];
  const at = list.findIndex(({ id }) => id === peek);
  const goTo = (index: number): (() => void) | undefined => {
    const other = list[index];
    return other === undefined ? undefined : () => change({ peek: other.id }, false);
  };
  const peeked = list[at];
  return (
    <Frame
      title="Guardrails"
      isFilled
      lead={guardrails.data === undefined ? undefined : formatListCount(guardrails.data)}
      actions={create}
      bar={select}
    >
      <Load of={guardrails} after={workspaces}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No guardrail yet" action={create}>
              <p>
                A guardrail says which models, providers and contents may pass, and how much each key and member that
                has it may spend.
              </p>
            </Empty>
          ) : (
            <div className="flex min-h-0 flex-1">
              <Grid
                label="Guardrails"
                columns={GUARDRAIL_COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                chosen={peek}
                onPeek={({ id }) => change({ peek: id }, false)}
              />
              {peeked !== undefined && (
                <Panel
                  key={peeked.id}
                  guardrail={peeked}
                  onClose={() => change({ peek: undefined }, false)}
                  onPrevious={goTo(at - 1)}
                  onNext={goTo(at + 1)}
                />
              )}
            </div>
          )
        }
      </Load>
      <NewGuardrail
        key={String(isNew)}
        workspaceId={workspaceId}
        isOpen={isNew}
        onClose={() => change({ new: undefined }, false)}
      />
    </Frame>
  );
}

function Panel({
  guardrail,
  onClose,
  onPrevious,
  onNext,
}: {
  readonly guardrail: Guardrail;
  readonly onClose: () => void;
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const { isOperator } = useConsole();
  const { id, name } = guardrail;
  const remove = useChange(() => client.DELETE('/guardrails/{id}', { params: { path: { id } } }), onClose);
  const keys = useList(
    ['guardrail-keys', id],
    (window, signal) =>
      client.GET('/guardrails/{id}/assignments/keys', { signal, params: { path: { id }, query: window } }),
    { enabled: isOperator },
  );
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose} onPrevious={onPrevious} onNext={onNext}>
      <Section title="Try it">
        <TryIt run={(body) => client.POST('/guardrails/{id}/test', { params: { path: { id } }, body })} />
      </Section>
      <Section title="What it found">
        <Matches id={id} />
      </Section>
      <Section
        title="Rules"
        actions={
          isOperator ? (
            <Button icon="trash" onClick={() => setIsDeleting(true)}>
              Delete
            </Button>
          ) : undefined
        }
      >
        <Facts
          of={[
            ['What for', guardrail.description ?? '–'],
            ['Filters', filtersOf(guardrail).join(', ') || 'none'],
            ['Models', listOf(guardrail.allowed_models, guardrail.ignored_models)],
            ['Providers', listOf(guardrail.allowed_providers, guardrail.ignored_providers)],
            ['Zero retention', guardrail.enforce_zdr === true ? 'demanded' : 'not demanded'],
            [
              'Limit',
              guardrail.limit_usd === null
                ? 'none'
                : `${guardrail.limit_usd} USD each key and member, ${guardrail.reset_interval ?? 'in all'}`,
            ],
            ...(isOperator ? [['Keys', keys.data === undefined ? '…' : namesOf(keys.data.items)] as const] : []),
          ]}
        />
      </Section>
      <DeleteDialog
        what="guardrail"
        name={name}
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        change={remove}
      >
        Keys and members that have it are bound by it no more.
      </DeleteDialog>
    </SidePanel>
  );
}

function namesOf(keys: readonly { readonly key_name: string | null }[]): string {
  return keys.map(({ key_name: key }) => key).join(', ') || 'none';
}

function listOf(allowed: readonly string[] | null, ignored: readonly string[] | null): string {
  if (allowed !== null) return `only ${allowed.join(', ')}`;
  return ignored === null ? 'all' : `all but ${ignored.join(', ')}`;
}
