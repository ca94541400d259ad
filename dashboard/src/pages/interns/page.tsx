import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useWorkspaces } from '../../api/lists.ts';
import { useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { Segments, Select } from '../../parts/field.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatCount } from '../../parts/money.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { INTERN_COLUMNS } from './columns.tsx';
import { Inbox } from './inbox.tsx';
import { InternForm } from './intern-form.tsx';
import { InternPanel } from './intern-panel.tsx';
import { RunPanel } from './run-panel.tsx';
import { parseInternsSearch } from './search.ts';

const TABS = [
  { value: 'interns', label: 'Interns' },
  { value: 'waiting', label: 'What waits' },
] as const;
/** The most that a page of the API has. */
const INTERNS = 500;
const EVERY_MS = 10_000;

/** Saved agents, their runs, and what waits for a person. */
export function Page(): ReactElement {
  const [{ tab, workspace, peek, run, isNew }, change] = useSearchState(parseInternsSearch);
  const workspaces = useWorkspaces();
  const query = { limit: INTERNS, ...(workspace !== '' && { workspace_id: workspace }) };
  const interns = useRead(['interns', workspace], (signal) => client.GET('/interns', { signal, params: { query } }), {
    everyMs: EVERY_MS,
  });
  useHotkeys({ n: () => change({ new: 'true' }) });
  const create = (
    <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
      New intern
    </Button>
  );
  const close = (): void => change({ peek: undefined, run: undefined }, false);
  return (
    <Frame
      title="Interns"
      isFilled
      lead={interns.data === undefined ? undefined : formatCount(interns.data.data.length)}
      actions={create}
      bar={
        <>
          <Segments
            label="Show"
            value={tab}
            options={TABS}
            onChange={(next) => change({ tab: next, peek: undefined, run: undefined })}
          />
          <Select
            label="Workspace"
            isLabelHidden
            value={workspace}
            options={[
              { value: '', label: 'default workspace' },
              ...(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: `workspace ${name}` })),
            ]}
            onChange={(next) => change({ workspace: next, peek: undefined, run: undefined })}
          />
        </>
      }
    >
      <Load of={interns}>
        {({ data }) => {
          const peeked = data.find(({ id }) => id === peek);
          return (
            <div className="flex min-h-0 flex-1">
              {tab === 'waiting' ? (
                <Inbox
                  workspace={workspace}
                  interns={data}
                  onRun={(input) => change({ peek: input.intern_id, run: input.run_id }, false)}
                />
              ) : data.length === 0 ? (
                <Empty title="There is no intern here" action={create}>
                  <p>
                    An intern is a saved agent with instructions, tools and a budget. Its runs go on after a restart,
                    and wait for a person before they do something that cannot be undone.
                  </p>
                </Empty>
              ) : (
                <Grid
                  label="Interns"
                  columns={INTERN_COLUMNS}
                  rows={data}
                  keyOf={({ id }) => id}
                  chosen={peek}
                  onPeek={({ id }) => change({ peek: id, run: undefined }, false)}
                />
              )}
              {peeked !== undefined && run !== '' && (
                <RunPanel
                  key={run}
                  internId={peeked.id}
                  runId={run}
                  onClose={() => change({ run: undefined, ...(tab === 'waiting' && { peek: undefined }) }, false)}
                />
              )}
              {peeked !== undefined && run === '' && (
                <InternPanel key={peek} intern={peeked} onRun={(id) => change({ run: id }, false)} onClose={close} />
              )}
            </div>
          );
        }}
      </Load>
      <InternForm
        key={`${workspace} ${String(isNew)}`}
        workspace={workspace}
        isOpen={isNew}
        onClose={() => change({ new: undefined }, false)}
      />
    </Frame>
  );
}
