import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactElement } from 'react';
import {
  allowConnection,
  readConnectionRequest,
  SCOPES,
  type ConnectionRequest,
  type Scope,
} from '../../api/connections.ts';
import { asApiError } from '../../api/errors.ts';
import { useWorkspaces } from '../../api/lists.ts';
import { useConsole } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Checkbox, Select } from '../../parts/field.tsx';
import { isFormValid } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { DAYS_AHEAD, parseNumber } from '../../parts/number-text.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { Empty, Skeleton } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { queryOf } from './search.ts';

/** A double click that was meant for another page allows nothing. */
const PAUSE_MS = 500;
const DAY_MS = 86_400_000;
const RESETS = [
  { value: 'daily', label: 'a day' },
  { value: 'weekly', label: 'a week' },
  { value: 'monthly', label: 'a month' },
] as const;
const SCOPE_LABELS: Readonly<Record<Scope, { readonly label: string; readonly hint: string }>> = {
  'mcp:read': { label: 'Look', hint: 'Models, prices, its own limit and its own requests.' },
  'mcp:spend': { label: 'Spend', hint: 'Send messages to models and make pictures, within the limit below.' },
  'mcp:feedback': { label: 'Judge', hint: 'Say what was wrong with its own requests.' },
};

/** A program wants to use the MCP server. */
export function Page(): ReactElement {
  const [query] = useState(() => queryOf(location));
  const request = useQuery({
    queryKey: ['connection request', query],
    queryFn: () => readConnectionRequest(query),
    retry: false,
    staleTime: Infinity,
  });
  return (
    <Frame title="Connect a program">
      {request.isError ? (
        <Empty title="This request is refused">
          <p>{asApiError(request.error).message}</p>
        </Empty>
      ) : request.data === undefined ? (
        <Skeleton rows={4} />
      ) : (
        <Consent query={query} request={request.data} />
      )}
    </Frame>
  );
}

function Consent({ query, request }: { readonly query: string; readonly request: ConnectionRequest }): ReactElement {
  const { session } = useConsole();
  const workspaces = useWorkspaces(session?.workspaces !== null || session.role === 'operator');
  const [workspaceId, setWorkspaceId] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(request.scopes);
  const [limit, setLimit] = useState('5');
  const [reset, setReset] = useState<(typeof RESETS)[number]['value']>('monthly');
  const [days, setDays] = useState('90');
  const [nowMs] = useState(() => Date.now());
  const [isReady, setIsReady] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsReady(true), PAUSE_MS);
    return () => clearTimeout(timer);
  }, []);
  const allow = useMutation({ mutationFn: allowConnection, onSuccess: (url) => location.assign(url) });
  const endsInDays = parseNumber(days, DAYS_AHEAD);
  const submit = (): void =>
    allow.mutate({
      query,
      scopes,
      ...(workspaceId !== '' && { workspace_id: workspaceId }),
      limit: parseNumber(limit) ?? null,
      limit_reset: reset,
      expires_at: endsInDays === undefined ? null : new Date(nowMs + endsInDays * DAY_MS).toISOString(),
    });
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && isFormValid(event.currentTarget)) submit();
      }}
      className="mx-auto my-8 flex max-w-md flex-col gap-4 rounded-xl border border-line bg-surface p-6"
    >
      <Program of={request} />
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 font-medium">What it may do</legend>
        {SCOPES.map((scope) => (
          <Checkbox
            key={scope}
            {...SCOPE_LABELS[scope]}
            checked={scopes.includes(scope)}
            onChange={({ target }) =>
              setScopes(SCOPES.filter((each) => (each === scope ? target.checked : scopes.includes(each))))
            }
          />
        ))}
      </fieldset>
      {(workspaces.data?.length ?? 0) > 1 && (
        <Select
          label="Workspace"
          options={[
            { value: '', label: 'the default one' },
            ...(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={workspaceId}
          onChange={setWorkspaceId}
        />
      )}
      <div className="grid grid-cols-3 gap-3">
        <NumberField label="Limit in USD" value={limit} onChange={setLimit} />
        <Select label="Each" options={RESETS} value={reset} onChange={setReset} />
        <NumberField label="Ends in days" {...DAYS_AHEAD} value={days} onChange={setDays} />
      </div>
      <p className="text-dim">
        What it spends is charged to a key of its own. Settings lists the connection and ends it.
      </p>
      {allow.isError && (
        <p role="alert" className="text-bad">
          {asApiError(allow.error).message}
        </p>
      )}
      <div className="flex justify-between">
        <Button onClick={() => location.assign(request.denialUrl)}>Deny</Button>
        <Button type="submit" look="primary" disabled={!isReady || allow.isPending || scopes.length === 0}>
          Allow
        </Button>
      </div>
    </form>
  );
}

/** Hosts come first: of all that is shown they are what a program cannot choose. */
function Program({ of }: { readonly of: ConnectionRequest }): ReactElement {
  const { clientHost, clientName, isKnown, redirectHost, isLoopback } = of;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-base">
        <strong className="font-semibold">
          <Name>{clientHost ?? redirectHost}</Name>
        </strong>{' '}
        wants to use the tools of this gateway, as “<Name>{clientName}</Name>”.
      </p>
      <p className="text-dim">
        The code for its access goes to <Name>{redirectHost}</Name>.
      </p>
      {isLoopback && (
        <p className="text-warn">
          That is the machine of this browser: any program on it can ask like this. Allow it only if you have just
          started it.
        </p>
      )}
      {clientHost === undefined && !isKnown && (
        <p className="text-warn">It chose its name itself: nothing proves it.</p>
      )}
    </div>
  );
}
