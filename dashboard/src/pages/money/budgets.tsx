import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useWorkspaces, type Workspace } from '../../api/lists.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';
import { formatUsdShort } from '../../parts/money.ts';
import { Section } from '../../parts/page.tsx';
import { Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';

const INTERVALS = [
  { value: 'daily', label: 'a day' },
  { value: 'weekly', label: 'a week' },
  { value: 'monthly', label: 'a month' },
  { value: 'lifetime', label: 'in all' },
] as const;
type Interval = (typeof INTERVALS)[number]['value'];

/** Budgets of each workspace: they must fall from lifetime to day. */
export function Budgets(): ReactElement {
  const workspaces = useWorkspaces();
  return (
    <Load of={workspaces}>
      {(list) => (
        <>
          {list.map((workspace) => (
            <WorkspaceBudgets key={workspace.id} workspace={workspace} />
          ))}
        </>
      )}
    </Load>
  );
}

function WorkspaceBudgets({ workspace }: { readonly workspace: Workspace }): ReactElement {
  const [isOpen, setIsOpen] = useState(false);
  const budgets = useRead(['budgets', workspace.id], (signal) =>
    client.GET('/workspaces/{id}/budgets', { signal, params: { path: { id: workspace.id } } }),
  );
  const remove = useChange((interval: Interval) =>
    client.DELETE('/workspaces/{id}/budgets/{interval}', { params: { path: { id: workspace.id, interval } } }),
  );
  return (
    <Section
      title={<Name>{workspace.name}</Name>}
      actions={
        <Button icon="plus" onClick={() => setIsOpen(true)}>
          Budget
        </Button>
      }
    >
      <Load of={budgets} rows={1}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-dim">No budget: its keys are bound by their own limits and the balance alone.</p>
          ) : (
            <ul className="flex flex-wrap gap-x-8">
              {data.map(({ id, limit_usd: usd, reset_interval: reset }) => (
                <li key={id} className="flex items-center gap-2">
                  <span className="text-[17px] font-semibold">{formatUsdShort(usd)} $</span>
                  <span className="text-dim">
                    {INTERVALS.find(({ value }) => value === (reset ?? 'lifetime'))?.label}
                  </span>
                  <Button
                    look="quiet"
                    icon="close"
                    aria-label={`Drop the ${reset ?? 'lifetime'} budget`}
                    disabled={remove.isPending}
                    onClick={() => remove.mutate(reset ?? 'lifetime')}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Load>
      {remove.isError && (
        <p role="alert" className="text-bad">
          {remove.error.message}
        </p>
      )}
      <SetBudget key={String(isOpen)} id={workspace.id} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </Section>
  );
}

function SetBudget({
  id,
  isOpen,
  onClose,
}: {
  readonly id: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [usd, setUsd] = useState('');
  const [interval, setInterval] = useState<Interval>('monthly');
  const body = { limit_usd: parseNumber(usd) ?? 0 };
  const save = useChange(
    (limit: typeof body) =>
      client.PUT('/workspaces/{id}/budgets/{interval}', { params: { path: { id, interval } }, body: limit }),
    onClose,
  );
  return (
    <FormDialog
      title="Set a budget"
      isOpen={isOpen}
      onClose={onClose}
      change={save}
      input={body}
      submit="Set"
      request={{ method: 'PUT', path: `/workspaces/${id}/budgets/${interval}`, body }}
    >
      <NumberField
        label="USD"
        isRequired
        autoFocus
        value={usd}
        error={issueFor(save.error, 'limit_usd')}
        onChange={setUsd}
      />
      <Select
        label="Each"
        options={INTERVALS}
        value={interval}
        onChange={setInterval}
        hint="Budgets must fall from lifetime to day."
      />
    </FormDialog>
  );
}
